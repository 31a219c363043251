// What JSX becomes: the build adds it to every file.
export { h, Fragment } from 'preact'
