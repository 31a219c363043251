/*! Contains Preact.
The MIT License (MIT)

Copyright (c) 2015-present Jason Miller

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
var oe="http://www.w3.org/2000/svg",he="http://www.w3.org/1999/xhtml",Fe="http://www.w3.org/1998/Math/MathML";var O={},$=[],Ne=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var K=Array.isArray;function T(e,t){for(let n in t)e[n]=t[n];return e}function se(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var I=$.slice;function Oe(e,t,n,o){let s,a,l;for(;t=t._parent;)if((s=t._component)&&!s._processingException)try{if(a=s.constructor,a&&a.getDerivedStateFromError!=null&&(s.setState(
a.getDerivedStateFromError(e)),l=s._dirty),s.componentDidCatch!=null&&(s.componentDidCatch(e,o||{}),l=s._dirty),l)return s._pendingError=s}catch(m){e=m}throw e}var gt={_catchError:Oe},h=gt;var bt=0;function r(e,t,n){let o={},s,a,l;for(l in t)l=="key"?s=t[l]:l=="ref"?a=t[l]:o[l]=t[l];if(arguments.length>2&&(o.children=arguments.length>3?I.call(arguments,
2):n),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)o[l]===void 0&&(o[l]=e.defaultProps[l]);return W(e,o,s,a,null)}function W(e,t,n,o,s){let a={
type:e,props:t,key:n,ref:o,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:s==null?++bt:s,_index:-1,_flags:0};return s==
null&&h.vnode!=null&&h.vnode(a),a}function x(e){return e.children}function Y(e,t){this.props=e,this.context=t}Y.prototype.setState=function(e,t){let n;this._nextState!=null&&this._nextState!=this.state?n=this._nextState:n=this.
_nextState=T({},this.state),typeof e=="function"&&(e=e(T({},n),this.props)),e&&T(n,e),e!=null&&this._vnode&&(t&&this._stateCallbacks.push(t),xe(this))};Y.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),xe(this))};Y.prototype.render=x;function U(e,t){if(t==null)return e._parent?
U(e._parent,e._index+1):null;let n;for(;t<e._children.length;t++)if(n=e._children[t],n!=null&&n._dom!=null)return n._dom;return typeof e.type=="function"?U(e):null}
function ht(e){if(e._parentDom&&e._dirty){let t=e._vnode,n=t._dom,o=[],s=[],a=T({},t);a._original=t._original+1,h.vnode&&h.vnode(a),q(e._parentDom,a,t,e._globalContext,
e._parentDom.namespaceURI,t._flags&32?[n]:null,o,n==null?U(t):n,!!(t._flags&32),s),a._original=t._original,a._parent._children[a._index]=a,ae(o,a,s),t._dom=t._parent=
null,a._dom!=n&&$e(a)}}function $e(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(t=>{if(t!=null&&t._dom!=null)
return e._dom=e._component.base=t._dom}),$e(e)}var H=[],ye,yt=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function xe(e){
(!e._dirty&&(e._dirty=!0)&&H.push(e)&&!ie._rerenderCount++||ye!=h.debounceRendering)&&(ye=h.debounceRendering,(ye||yt)(ie))}var xt=(e,t)=>e._vnode._depth-t._vnode.
_depth;function ie(){try{let e,t=1;for(;H.length;)H.length>t&&H.sort(xt),e=H.shift(),t=H.length,ht(e)}finally{H.length=ie._rerenderCount=0}}ie._rerenderCount=0;function Ee(e,t,n,o,s,a,l,m,u,d,f){let _,p,i,y,b,g=o&&o._children||$,v=t.length;for(u=Et(n,t,g,u,v),_=0;_<v;_++){if(i=n._children[_],i==null)continue;p=i._index!=
-1&&g[i._index]||O,i._index=_;let L=q(e,i,p,s,a,l,m,u,d,f);y=i._dom,i.ref&&p.ref!=i.ref&&(p.ref&&ce(p.ref,null,i),f.push(i.ref,i._component||y,i)),b==null&&y!=null&&
(b=y),i._flags&4?(u=Ie(i,u,e),p._dom&&(p._dom=null)):typeof i.type=="function"&&L!==void 0?u=L:y&&(u=y.nextSibling),i._flags&=-7}return n._dom=b,u}function Et(e,t,n,o,s){
let a,l,m,u=n.length,d=u,f=0;for(e._children=new Array(s),a=0;a<s;a++){if(l=t[a],l==null||typeof l=="boolean"||typeof l=="function"){e._children[a]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[a]=W(null,l,null,null,null):K(l)?l=e._children[a]=W(x,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[a]=W(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[a]=l;let _=a+f;l._parent=e,
l._depth=e._depth+1;let p=l._index=kt(l,n,_,d);m=null,p!=-1&&(m=n[p],d--,m&&(m._flags|=2)),m==null||m._original==null?(p==-1&&(s>u?f--:s<u&&f++),typeof l.type!=
"function"&&(l._flags|=4)):p!=_&&(p==_-1?f--:p==_+1?f++:(p>_?f--:f++,l._flags|=4))}if(d)for(a=0;a<u;a++)m=n[a],m!=null&&(m._flags&2)==0&&(m._dom==o&&(o=U(m)),ke(
m,m));return o}function Ie(e,t,n){if(typeof e.type=="function"){let o=e._children;for(let s=0;o&&s<o.length;s++)o[s]&&(o[s]._parent=e,t=Ie(o[s],t,n));return t}else
e._dom!=t&&(t&&e.type&&!t.parentNode&&(t=U(e)),t=n.insertBefore(e._dom,t||null));do t=t&&t.nextSibling;while(t!=null&&t.nodeType==8);return t}function kt(e,t,n,o){let s=e.key,a=e.type,l=t[n],m=l!=null&&(l._flags&2)==0,u=o>(m?1:0);if(l===null&&s==null||m&&s==l.key&&a==l.type)return n;if(u){let d=n-1,f=n+
1;for(;d>=0||f<t.length;){let _=d>=0?d--:f++;if(l=t[_],l!=null&&(l._flags&2)==0&&s==l.key&&a==l.type)return _}}return-1}var je=Math.random().toString(8),ve="__d"+je,pe="__a"+je;function He(e,t,n){t[0]=="-"?e.setProperty(t,n==null?"":n):n==null?e[t]="":typeof n!="number"||Ne.test(
t)?e[t]=n:e[t]=n+"px"}var vt=/(PointerCapture)$|Capture$/i,Ke=0;function V(e,t,n,o,s){let a;e:if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o==
"string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||He(e.style,t,"");if(n)for(t in n)(!o||n[t]!=o[t])&&He(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n"){a=t!=
(t=t.replace(vt,"$1"));let l=t.toLowerCase();l in e||t=="onFocusOut"||t=="onFocusIn"?t=l.slice(2):t=t.slice(2),e._listeners||(e._listeners={}),e._listeners[t+a]=
n,n?o?n[pe]=o[pe]:(n[pe]=Ke,e.addEventListener(t,a?Be:De,a)):e.removeEventListener(t,a?Be:De,a)}else{if(s==oe)t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!=
"width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{e[t]=n==null?
"":n;break e}catch{}typeof n=="function"||(n!=null&&(n!==!1||t[4]=="-")?e.setAttribute(t,t=="popover"&&n==!0?"":n):e.removeAttribute(t))}}function We(e){return function(t){
if(this._listeners){let n=this._listeners[t.type+e];if(t[ve]==null)t[ve]=Ke++;else if(t[ve]<n[pe])return;return n(h.event?h.event(t):t)}}}var De=We(!1),Be=We(!0);function q(e,t,n,o,s,a,l,m,u,d){let f,_=t.type;if(t.constructor!==void 0)return null;n._flags&128&&(u=!!(n._flags&32),m=t._dom=n._dom,a=[m]),(f=h._diff)&&f(t);e:
if(typeof _=="function"){let p=l.length;try{let i,y,b,g,v,L,P=t.props,R=_.prototype&&_.prototype.render;f=_.contextType;let ne=f&&o[f._id],j=f?ne?ne.props.value:
f._defaultValue:o;if(n._component?(i=t._component=n._component,L=i._processingException=i._pendingError):(R?t._component=i=new _(P,j):(t._component=i=new Y(P,j),
i.constructor=_,i.render=wt),ne&&ne.sub(i),i.state||(i.state={}),i._globalContext=o,y=i._dirty=!0,i._renderCallbacks=[],i._stateCallbacks=[]),R&&i._nextState==null&&
(i._nextState=i.state),R&&_.getDerivedStateFromProps!=null&&(i._nextState==i.state&&(i._nextState=T({},i._nextState)),T(i._nextState,_.getDerivedStateFromProps(
P,i._nextState))),b=i.props,g=i.state,i._vnode=t,y)R&&_.getDerivedStateFromProps==null&&i.componentWillMount!=null&&i.componentWillMount(),R&&i.componentDidMount!=
null&&i._renderCallbacks.push(i.componentDidMount);else{if(R&&_.getDerivedStateFromProps==null&&P!==b&&i.componentWillReceiveProps!=null&&i.componentWillReceiveProps(
P,j),t._original==n._original||!i._force&&i.shouldComponentUpdate!=null&&i.shouldComponentUpdate(P,i._nextState,j)===!1){t._original!=n._original&&(i.props=P,i.
state=i._nextState,i._dirty=!1),t._dom=n._dom,t._children=n._children,t._children.some(Ue=>{Ue&&(Ue._parent=t)}),$.push.apply(i._renderCallbacks,i._stateCallbacks),
i._stateCallbacks=[],i._renderCallbacks.length&&l.push(i),m=U(n);break e}i.componentWillUpdate!=null&&i.componentWillUpdate(P,i._nextState,j),R&&i.componentDidUpdate!=
null&&i._renderCallbacks.push(()=>{i.componentDidUpdate(b,g,v)})}i.context=j,i.props=P,i._parentDom=e,i._force=!1;let re=h._render,_t=0;if(R)i.state=i._nextState,
i._dirty=!1,re&&re(t),f=i.render(i.props,i.state,i.context),$.push.apply(i._renderCallbacks,i._stateCallbacks),i._stateCallbacks=[];else do i._dirty=!1,re&&re(t),
f=i.render(i.props,i.state,i.context),i.state=i._nextState;while(i._dirty&&++_t<25);i.state=i._nextState,i.getChildContext!=null&&(o=T(T({},o),i.getChildContext())),
R&&!y&&i.getSnapshotBeforeUpdate!=null&&(v=i.getSnapshotBeforeUpdate(b,g));let be=f!=null&&f.type===x&&f.key==null?qe(f.props.children):f;m=Ee(e,K(be)?be:[be],t,
n,o,s,a,l,m,u,d),i.base=t._dom,t._flags&=-161,i._renderCallbacks.length&&l.push(i),L&&(i._pendingError=i._processingException=null)}catch(i){if(l.length=p,t._original=
null,u||a!=null){if(i.then){for(t._flags|=u?160:128;m&&m.nodeType==8&&m.nextSibling;)m=m.nextSibling;a!=null&&(a[a.indexOf(m)]=null),t._dom=m}else if(a!=null)for(let y=a.
length;y--;)se(a[y])}else t._dom=n._dom;t._children==null&&(t._children=n._children||[]),i.then||Ye(t),h._catchError(i,t,n)}}else a==null&&t._original==n._original?
(t._children=n._children,t._dom=n._dom):m=t._dom=St(n._dom,t,n,o,s,a,l,u,d);return(f=h.diffed)&&f(t),t._flags&128?void 0:m}function Ye(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(Ye))}function ae(e,t,n){for(let o=0;o<n.length;o++)ce(n[o],n[++o],n[++o]);h._commit&&h._commit(t,e),e.some(o=>{try{e=o.
_renderCallbacks,o._renderCallbacks=[],e.some(s=>{s.call(o)})}catch(s){h._catchError(s,o._vnode)}})}function qe(e){return typeof e!="object"||e==null||e._depth>
0?e:K(e)?e.map(qe):e.constructor!==void 0?null:T({},e)}function St(e,t,n,o,s,a,l,m,u){let d=n.props||O,f=t.props,_=t.type,p,i,y,b,g,v,L;if(_=="svg"?s=oe:_=="mat\
h"?s=Fe:s||(s=he),a!=null){for(p=0;p<a.length;p++)if(g=a[p],g&&"setAttribute"in g==!!_&&(_?g.localName==_:g.nodeType==3)){e=g,a[p]=null;break}}if(e==null){if(_==
null)return document.createTextNode(f);e=document.createElementNS(s,_,f.is&&f),m&&(h._hydrationMismatch&&h._hydrationMismatch(t,a),m=!1),a=null}if(_==null)d!==f&&
(!m||e.data!=f)&&(e.data=f);else{if(a=_=="textarea"&&f.defaultValue!=null?null:a&&I.call(e.childNodes),!m&&a!=null)for(d={},p=0;p<e.attributes.length;p++)g=e.attributes[p],
d[g.name]=g.value;for(p in d)g=d[p],p=="dangerouslySetInnerHTML"?y=g:p!="children"&&!(p in f)&&!(p=="value"&&"defaultValue"in f)&&!(p=="checked"&&"defaultChecke\
d"in f)&&V(e,p,null,g,s);for(p in f)g=f[p],p=="children"?b=g:p=="dangerouslySetInnerHTML"?i=g:p=="value"?v=g:p=="checked"?L=g:(!m||typeof g=="function")&&d[p]!==
g&&V(e,p,g,d[p],s);if(i)!m&&(!y||i.__html!=y.__html&&i.__html!=e.innerHTML)&&(e.innerHTML=i.__html),t._children=[];else if(y&&(e.innerHTML=""),Ee(t.type=="templ\
ate"?e.content:e,K(b)?b:[b],t,n,o,_=="foreignObject"?he:s,a,l,a?a[0]:n._children&&U(n,0),m,u),a!=null)for(p=a.length;p--;)se(a[p]);(!m||_=="textarea")&&(p="valu\
e",_=="progress"&&v==null?e.removeAttribute("value"):v!=void 0&&(v!==e[p]||_=="progress"&&!v||_=="option"&&v!=d[p])&&V(e,p,v,d[p],s),p="checked",L!=void 0&&L!=e[p]&&
V(e,p,L,d[p],s))}return e}function ce(e,t,n){try{if(typeof e=="function"){let o=typeof e._unmount=="function";o&&e._unmount(),(!o||t!=null)&&(e._unmount=e(t))}else
e.current=t}catch(o){h._catchError(o,n)}}function ke(e,t,n){let o;if(h.unmount&&h.unmount(e),(o=e.ref)&&(!o.current||o.current==e._dom)&&ce(o,null,t),(o=e._component)!=
null){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(s){h._catchError(s,t)}o.base=o._parentDom=o._globalContext=null}if(o=e._children)for(let s=0;s<
o.length;s++)o[s]&&ke(o[s],t,n||typeof e.type!="function");n||se(e._dom),e._component=e._parent=e._dom=void 0}function wt(e,t,n){return this.constructor(e,n)}function Ce(e,t,n){t==document&&(t=document.documentElement),h._root&&h._root(e,t);let o=typeof n=="function",s=o?null:n&&n._children||t._children;e=(!o&&n||t).
_children=r(x,null,[e]);let a=[],l=[];q(t,e,s||O,O,t.namespaceURI,!o&&n?[n]:s?null:t.firstChild?I.call(t.childNodes):null,a,!o&&n?n:s?s._dom:t.firstChild,o,l),ae(
a,e,l),e.props.children=null}var ee,E,we,ue=0,et=[],k=h,ze=k._diff,Ge=k._render,Je=k.diffed,Xe=k._commit,Ze=k.unmount,Qe=k._root,Tt=35,Se;k._diff=e=>{E=null,ze&&ze(e)};k._root=(e,t)=>{e&&t.
_children&&t._children._mask&&(e._mask=t._children._mask),Qe&&Qe(e,t)};k._render=e=>{Ge&&Ge(e),E=e._component,ee=0;let t=E.__hooks;t&&(we===E?(t._pendingEffects=
[],E._renderCallbacks=[],t._list.some(n=>{n._nextValue&&(n._value=n._nextValue),n._pendingArgs=n._nextValue=void 0})):(t._pendingEffects.some(de),t._pendingEffects.
some(Me),t._pendingEffects=[],ee=0)),we=E};k.diffed=e=>{Je&&Je(e);let t=e._component;t&&t.__hooks&&(t.__hooks._pendingEffects.length&&Pt(et.push(t)),t.__hooks._list.
some(n=>{n._pendingArgs&&(n._args=n._pendingArgs,n._pendingArgs=void 0)})),we=E=null};k._commit=(e,t)=>{t.some(n=>{try{n._renderCallbacks.some(de),n._renderCallbacks=
n._renderCallbacks.filter(o=>o._value?Me(o):!0)}catch(o){t.some(s=>{s._renderCallbacks&&(s._renderCallbacks=[])}),t=[],k._catchError(o,n._vnode)}}),Xe&&Xe(e,t)};
k.unmount=e=>{Ze&&Ze(e);let t=e._component;if(t&&t.__hooks){let n;t.__hooks._list.some(o=>{try{de(o)}catch(s){n=s}}),t.__hooks=void 0,n&&k._catchError(n,t._vnode)}};
function Te(e,t){k._hook&&k._hook(E,e,ue||t),ue=0;let n=E.__hooks||(E.__hooks={_list:[],_pendingEffects:[]});return e>=n._list.length&&n._list.push({}),n._list[e]}
function C(e){return ue=1,At(nt,e)}function At(e,t,n){let o=Te(ee++,2);if(o._reducer=e,!o._component&&(o._value=[n?n(t):nt(void 0,t),s=>{let a=o._nextValue?o._nextValue[0]:
o._value[0],l=o._reducer(a,s);a!==l&&(o._nextValue=[l,o._value[1]],o._component.setState({}))}],o._component=E,!E._hasScuFromHooks)){let l=function(m,u,d){if(!o.
_component.__hooks)return!0;let f=!1,_=o._component.props!==m;if(o._component.__hooks._list.some(p=>{if(p._nextValue){f=!0;let i=p._value[0];p._value=p._nextValue,
p._nextValue=void 0,i!==p._value[0]&&(_=!0)}}),s){let p=s.call(this,m,u,d);return f?p||_:p}return!f||_};E._hasScuFromHooks=!0;let s=E.shouldComponentUpdate,a=E.
componentWillUpdate;E.componentWillUpdate=function(m,u,d){if(this._force){let f=s;s=void 0,l(m,u,d),s=f}a&&a.call(this,m,u,d)},E.shouldComponentUpdate=l}return o.
_nextValue||o._value}function w(e,t){let n=Te(ee++,3);!k._skipEffects&&tt(n._args,t)&&(n._value=e,n._pendingArgs=t,E.__hooks._pendingEffects.push(n))}function me(e){return ue=5,Ae(()=>({current:e}),[])}function Ae(e,t){let n=Te(ee++,7);return tt(n._args,t)&&(n._value=e(),n._args=t,n._factory=e),n._value}function Mt(){let e;for(;e=et.shift();){let t=e.__hooks;if(!(!e._parentDom||!t))try{t._pendingEffects.some(de),t._pendingEffects.some(Me),t._pendingEffects=[]}catch(n){
t._pendingEffects=[],k._catchError(n,e._vnode)}}}var Ve=typeof requestAnimationFrame=="function";function Lt(e){let t=()=>{clearTimeout(n),Ve&&cancelAnimationFrame(
o),setTimeout(e)},n=setTimeout(t,Tt),o;Ve&&(o=requestAnimationFrame(t))}function Pt(e){(e===1||Se!==k.requestAnimationFrame)&&(Se=k.requestAnimationFrame,(Se||Lt)(
Mt))}function de(e){let t=E,n=e._cleanup;typeof n=="function"&&(e._cleanup=void 0,n()),E=t}function Me(e){let t=E;e._cleanup=e._value(),E=t}function tt(e,t){return!e||
e.length!==t.length||t.some((n,o)=>n!==e[o])}function nt(e,t){return typeof t=="function"?t(e):t}var rt="hns-token";function ot(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(rt,e),history.replaceState(null,"",location.
pathname+location.search))}var D=class extends Error{constructor(n,o){super(o.title);this.status=n;this.problem=o}status;problem},Rt={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function st(e,t){let n;try{n=await fetch(e,{signal:t,
headers:{"X-HNS-Token":sessionStorage.getItem(rt)??""},credentials:"omit",cache:"no-store"})}catch(s){throw t.aborted?s:new D(0,Rt)}if(n.ok)return n;let o={title:`\
The server answers ${n.status}`};try{o=await n.json()}catch{}throw new D(n.status,o)}function F(e,t){let[n,o]=C({path:e}),s=me(0),[a,l]=C(0);return w(()=>{let m=new AbortController,
u=0;return st(e,m.signal).then(d=>d.json()).then(d=>{s.current=0,o({path:e,data:d,at:new Date})},d=>{if(m.signal.aborted)return;let f=d instanceof D?d:new D(0,{
title:"The answer cannot be read",detail:String(d)});o(_=>_.path===e&&f.status!==404&&f.status!==403?{..._,error:f}:{path:e,error:f}),(f.status===0||f.status>=500)&&
(u=window.setTimeout(()=>l(_=>_+1),Math.min(30,2**++s.current)*1e3))}),()=>{m.abort(),clearTimeout(u)}},[e,t,a]),n.path===e?n:{}}function it(){let[e,t]=C("conne\
cting"),[n,o]=C(0);return w(()=>{let s,a=0,l=0,m=!1,u=()=>{m||document.hidden||(a=window.setTimeout(d,Math.min(15,2**l++)*1e3))},d=async()=>{clearTimeout(a);let _=s=
new AbortController,p=0,i=()=>{clearTimeout(p),p=window.setTimeout(()=>_.abort(),25e3)};try{i();let y=(await st("/api/changes",_.signal)).body.pipeThrough(new TextDecoderStream).
getReader();for(let b=await y.read();!b.done;b=await y.read())i(),l=0,t("live"),b.value.includes("changed")&&o(g=>g+1)}catch(y){y instanceof D&&y.status===401&&
(m=!0)}clearTimeout(p),!(s!==_||m)&&(document.hidden||t("lost"),u())},f=()=>{clearTimeout(a),s?.abort(),s=void 0,document.hidden||(l=0,o(_=>_+1),d())};return document.
addEventListener("visibilitychange",f),document.hidden||d(),()=>{m=!0,clearTimeout(a),s?.abort(),document.removeEventListener("visibilitychange",f)}},[]),[e,n]}function lt(e){let t=new Map;for(let a of e)t.set(a.name,{member:a,children:[],problems:0,descendants:0,parentMissing:!1});let n=[];for(let a of t.values()){let l=a.
member.parent?t.get(a.member.parent):void 0;a.parentMissing=!!a.member.parent&&!l,l?l.children.push(a):n.push(a)}let o=new Set,s=a=>{let l=[a];o.add(a);for(let m=0;m<
l.length;m++){l[m].children=l[m].children.filter(u=>!o.has(u));for(let u of l[m].children)o.add(u),l.push(u)}for(let m=l.length-1;m>=0;m--){let u=l[m];u.problems=
u.member.problems?.length??0;for(let d of u.children)u.problems+=d.problems,u.descendants+=d.descendants+1;at(u.children)}};n.forEach(s);for(let a of t.values())
o.has(a)||(n.push(a),s(a));return at(n)}function at(e){return e.sort((t,n)=>+(n.problems>0)-+(t.problems>0)||(t.member.name<n.member.name?-1:1))}function Ut(e,t){
if(t.problems&&!e.problems?.length)return!1;let n=t.text.trim().toLowerCase(),o=n.indexOf("=");return o>0?e.labels?.[t.text.trim().slice(0,o)]?.toLowerCase()===
n.slice(o+1):e.name.includes(n)}function z(e){return e.problems||e.text.trim()!==""}function ct(e,t,n){let o=z(t),s=new Set;if(o){let d=[];for(let f of e)d.push(
{node:f,above:[]});for(let f=d.pop();f;f=d.pop()){if(Ut(f.node.member,t)){s.add(f.node);for(let p of f.above)s.add(p)}let _=f.node.children.length?[...f.above,f.
node]:f.above;for(let p of f.node.children)d.push({node:p,above:_})}}let a=d=>o?d.filter(f=>s.has(f)):d,l=[],m=[],u=(d,f,_)=>{for(let p=d.length-1;p>=0;p--)m.push(
{node:d[p],depth:f,parent:_,expanded:!1,position:p+1,siblings:d.length})};u(a(e),0,-1);for(let d=m.pop();d;d=m.pop()){let f=a(d.node.children);d.expanded=f.length>
0&&(o||n(d.node)),l.push(d),d.expanded&&u(f,d.depth+1,l.length-1)}return l}function G(e){let t=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();return t.charAt(
0).toUpperCase()+t.slice(1)}function _e(e,t=Date.now()){if(!e)return"";let n=Math.max(0,Math.floor((t-Date.parse(e))/1e3));return n<120?n+"s":n<3*3600?Math.floor(
n/60)+"m":n<48*3600?Math.floor(n/3600)+"h":n<2*365*86400?Math.floor(n/86400)+"d":Math.floor(n/(365*86400))+"y"}function B(e,t,n=t+"s"){return`${e.toLocaleString(
"en")} ${e===1?t:n}`}function te(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function S({to:e,children:t,...n}){return r("a",{href:e,onClick:s=>{
s.button||s.ctrlKey||s.metaKey||s.shiftKey||s.altKey||(s.preventDefault(),te(e))},...n},t)}var M=e=>"/ns/"+e,Le=(e,t,n)=>`/ns/${e}/${t}/${encodeURIComponent(n)}`;
function J({command:e}){let[t,n]=C(!1);return r("button",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).then(()=>{n(!0),setTimeout(()=>n(!1),1500)}),
title:"Copy the command that shows the same"},r("code",null,e),r("span",{"aria-live":"polite"},t?"Copied":"Copy"))}function ge({problem:e}){return r("section",{
class:"box bad",role:"alert"},r("h2",null,e.title),e.missingPermission&&r("p",null,"Missing permission: ",r("code",null,e.missingPermission)),e.detail&&r("p",{class:"\
message"},e.detail),e.hint&&r("p",null,e.hint))}function X({from:e,children:t}){let[n,o]=C(!1);return w(()=>{let s=setTimeout(()=>o(!0),200);return()=>clearTimeout(
s)},[]),e.data?r(x,null,e.error&&r("p",{class:"stale",role:"status"},r("b",null,e.error.problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),".\
 ",e.error.problem.hint),t(e.data)):e.error?r(ge,{problem:e.error.problem}):r("p",{class:"dim",role:"status"},n?"Reading from the cluster …":"")}function pt({
list:e}){return r("ul",{class:"conditions"},e.map(t=>r("li",{key:t.type+t.reason},r("span",{class:"tag bad"},G(t.type))," ",r("b",null,G(t.reason))," ",r("span",
{class:"message"},t.message))))}var N=30,Ft=200,Pe=new Map,ft={text:"",problems:!1};function ut({version:e}){let t=F("/api/forest",e);return w(()=>{document.title="Forest"},[]),r("main",{class:"\
forest"},r(X,{from:t},n=>r(Nt,{forest:n})))}function Nt({forest:e}){let t=Ae(()=>lt(e.namespaces),[e]),[n,o]=C(ft),s=p=>{ft=p,o(p)},[,a]=C(0),l=e.namespaces.length<=
Ft,u=ct(t,n,p=>Pe.get(p.member.name)??(l||p.problems>(p.member.problems?.length??0))),d=e.namespaces.filter(p=>p.problems?.length),f=(p,i)=>{Pe.set(p.member.name,
i),a(y=>y+1)},_=p=>{for(let i of e.namespaces)Pe.set(i.name,p);a(i=>i+1)};return r("div",null,r("div",{class:"head"},r("h1",null,"Forest"),r("p",{class:"summary"},
B(e.namespaces.length,"namespace")," in ",B(t.length,"tree")," · ",d.length?r("b",{class:"bad"},B(d.length,"namespace")," with problems"):r("span",{class:"good"},
"no problems")),r(J,{command:"kubectl hns tree -A"})),e.partial&&r("p",{class:"stale"},e.partial),r("div",{class:"tools"},r("input",{id:"search",type:"search",placeholder:"\
Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:n.text,onInput:p=>s({...n,text:p.target.value}),spellcheck:!1,autocomplete:"\
off"}),r("label",{class:"check"},r("input",{type:"checkbox",checked:n.problems,onChange:p=>s({...n,problems:p.target.checked})})," With problems"),r("span",{class:"\
grow"}),r("button",{onClick:()=>_(!0),disabled:z(n)},"Expand all"),r("button",{onClick:()=>_(!1),disabled:z(n)},"Collapse all")),u.length?r(Ot,{list:u,toggle:f,
fixed:z(n)}):r("p",{class:"dim box",role:"status"},z(n)?"No namespace matches the filter.":"There are no namespaces that you may see."))}function Ot({list:e,toggle:t,
fixed:n}){let o=me(null),[s,a]=C({top:0,height:800}),[l,m]=C(""),u=Math.max(0,e.findIndex(b=>b.node.member.name===l)),d=()=>{let b=o.current;b&&a({top:b.scrollTop,
height:b.clientHeight})};w(()=>(d(),addEventListener("resize",d),()=>removeEventListener("resize",d)),[e.length]);let f=b=>{b=Math.max(0,Math.min(e.length-1,b)),
m(e[b].node.member.name);let g=o.current;b*N<g.scrollTop&&(g.scrollTop=b*N),(b+1)*N>g.scrollTop+g.clientHeight&&(g.scrollTop=(b+1)*N-g.clientHeight)},_=b=>{let g=e[u],
v=Math.max(1,Math.floor(s.height/N)-1);if(!(b.ctrlKey||b.metaKey||b.altKey)){switch(b.key){case"ArrowDown":f(u+1);break;case"ArrowUp":f(u-1);break;case"PageDown":
f(u+v);break;case"PageUp":f(u-v);break;case"Home":f(0);break;case"End":f(e.length-1);break;case"ArrowRight":g.expanded?f(u+1):g.node.children.length&&!n&&t(g.node,
!0);break;case"ArrowLeft":g.expanded&&!n?t(g.node,!1):g.parent>=0&&f(g.parent);break;case"Enter":te(M(g.node.member.name));break;default:return}b.preventDefault()}},
p=Math.max(0,Math.floor(s.top/N)-10),i=Math.min(e.length,Math.ceil((s.top+s.height)/N)+10),y=e.slice(p,i);return r("div",{class:"grid",role:"treegrid","aria-lab\
el":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,onKeyDown:_,"aria-activedescendant":u>=p&&u<i?"row-"+e[u].node.member.name:void 0},
r("div",{class:"row header",role:"row","aria-rowindex":1},r("span",{role:"columnheader"},"Namespace"),r("span",{role:"columnheader"},"Problems"),r("span",{role:"\
columnheader",class:"wide"},"Kind"),r("span",{role:"columnheader",class:"num wide",title:"Namespaces below"},"Below"),r("span",{role:"columnheader",class:"num"},
"Age")),r("div",{class:"rows",role:"rowgroup",ref:o,onScroll:d,tabIndex:-1},r("div",{role:"presentation",style:{height:e.length*N+"px",position:"relative"}},y.map(
(b,g)=>r($t,{key:b.node.member.name,row:b,index:p+g,active:p+g===u,fixed:n,choose:()=>m(b.node.member.name),toggle:t})))))}function $t({row:e,index:t,active:n,fixed:o,
choose:s,toggle:a}){let{node:l,depth:m,expanded:u}=e,{member:d,children:f}=l,_=d.problems?.length??0,p=l.problems-_;return r("div",{id:"row-"+d.name,role:"row",
class:"row"+(n?" active":"")+(_?" troubled":""),"aria-level":m+1,"aria-rowindex":t+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-expanded":f.length?
u:void 0,style:{top:t*N+"px","--depth":m},onMouseDown:s},r("span",{role:"gridcell",class:"name"},f.length?r("button",{class:"twist",tabIndex:-1,"aria-hidden":"t\
rue",disabled:o,onClick:()=>a(l,!u)},u?"▾":"▸"):r("span",{class:"twist"}),r(S,{to:M(d.name),tabIndex:-1,title:d.name},d.name),d.deleting&&r("span",{class:"t\
ag"},"deleting")),r("span",{role:"gridcell",class:"what"},_?r("span",{class:"problem",title:d.problems.map(i=>`${G(i.type)}: ${i.message}`).join(`
`)},r("b",null,G(d.problems[0].reason))," ",r("span",{class:"wide"},d.problems[0].message),_>1&&` +${_-1}`):p&&!u?r("span",{class:"problem below"},p," below"):null),
r("span",{role:"gridcell",class:"dim wide"},d.kind==="full"?"":d.kind),r("span",{role:"gridcell",class:"num dim wide"},l.descendants||""),r("span",{role:"gridce\
ll",class:"num dim"},_e(d.created)))}function mt({name:e,version:t}){let n=F("/api/namespaces/"+e,t);return w(()=>{document.title=e},[e]),r("main",null,!n.data&&r("div",{class:"head"},r("h1",null,e)),
r(X,{from:n},o=>r(It,{ns:o,version:t})))}function Re({names:e,abstract:t=[]}){return r("nav",{"aria-label":"Path to the root",class:"path"},r("ol",null,r("li",null,
r(S,{to:"/"},"Forest")),[...t].reverse().map(n=>r("li",{key:"a "+n,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},n)),e.map((n,o)=>r("li",
{key:n},o===e.length-1?r("b",{"aria-current":"page"},n):r(S,{to:M(n)},n)))))}function It({ns:e,version:t}){let n=[e.kind==="full"?"full namespace":e.kind,e.path.
length>1?`level ${e.path.length}`:"root",e.created&&`${_e(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&
e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return r(x,null,r(Re,{names:e.path,abstract:e.abstractAncestors}),
r("div",{class:"head"},r("h1",null,e.name),r("p",{class:"summary"},e.deleting&&r(x,null,r("b",{class:"bad"},"being deleted")," · "),n.join(" · ")),r(J,{command:"\
kubectl hns describe "+e.name})),e.excluded&&r("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),e.notes?.map(o=>r("p",
{class:"stale",key:o},o)),!!e.problems?.length&&r("section",{class:"box bad"},r("h2",null,B(e.problems.length,"problem")),r(pt,{list:e.problems})),r("div",{class:"\
columns"},r("section",{"aria-labelledby":"policy"},r("h2",{id:"policy"},"Policy"),e.resources.map(o=>r(Ht,{key:o,namespace:e.name,resource:o,version:t}))),r("di\
v",null,r(Dt,{ns:e}),r(Bt,{ns:e}))))}function Ht({namespace:e,resource:t,version:n}){let o=F(`/api/namespaces/${e}/objects/${t}`,n),[s,...a]=t.split("."),l=o.data?.
items??[],m=l.filter(u=>u.state!=="Absent").length;return r("section",{class:"kind","aria-label":t},r("h3",null,r("span",null,s),a.length>0&&r("small",{class:"d\
im"},a.join(".")),r("span",{class:"grow"}),o.data&&r("small",{class:"dim"},m?B(m,"object"):"none"),o.data?.mode&&r("span",{class:"tag"},o.data.mode)),o.error&&!o.
data&&r("p",{class:"note"},o.error.problem.missingPermission?r(x,null,"Missing permission: ",r("code",null,o.error.problem.missingPermission)):o.error.problem.detail),
o.data?.notes?.map(u=>r("p",{class:"note",key:u},u)),l.length>0&&r("table",null,r("thead",{class:"hidden"},r("tr",null,r("th",null,"Name"),r("th",null,"Where it\
 comes from"))),r("tbody",null,l.map(u=>r("tr",{key:u.name,class:u.state},r("td",null,r(S,{to:Le(e,t,u.name)},u.name)),r("td",null,u.state==="Copy"?r(x,null,"co\
pied from ",r(S,{to:M(u.source)},u.source)):u.state==="Local"?r(x,null,"made here ",u.override&&r("span",{class:"tag"},"override")):r(x,null,r("span",{class:"ta\
g"},"not here")," is in ",r(S,{to:M(u.source)},u.source)," · ",r(S,{to:Le(e,t,u.name)},"why not here?"))))))))}function Dt({ns:e}){return r("section",{class:"b\
ox","aria-labelledby":"children"},r("h2",{id:"children"},"Children ",r("small",{class:"dim"},e.children.length||"")),e.children.length?r("ul",{class:"plain"},e.
children.map(t=>r("li",{key:t.name},r(S,{to:M(t.name)},t.name)," ",r("span",{class:"dim"},t.subnamespace?"sub-namespace":""),t.state&&t.state!=="Ok"&&r("span",{
class:"tag bad"},t.state)))):r("p",{class:"dim"},"None."))}function Bt({ns:e}){let t=e.labelsFrom.filter(s=>!s.tree),n=e.labelsFrom.filter(s=>s.tree),o=s=>r("li",
{key:s.key},r("code",null,s.key,"=",s.value),s.from&&r("span",{class:"dim"}," set by the hierarchy ",s.from===e.name?"here":r(x,null,"in ",r(S,{to:M(s.from)},s.
from))));return r("section",{class:"box","aria-labelledby":"labels"},r("h2",{id:"labels"},"Labels"),t.length?r("ul",{class:"plain"},t.map(o)):r("p",{class:"dim"},
"None of its own."),n.length>0&&r("details",null,r("summary",null,n.length," set by its place in the tree"),r("ul",{class:"plain"},n.map(o))))}function dt({namespace:e,resource:t,name:n,version:o}){let s=F(`/api/namespaces/${e}/objects/${t}/${encodeURIComponent(n)}`,o);return w(()=>{document.title=`${n}\
 in ${e}`},[n,e]),r("main",null,r(Re,{names:[e,n]}),r("div",{class:"head"},r("h1",null,n),r("p",{class:"summary"},t," in ",e),r(J,{command:`kubectl hns explain ${t}\
 ${n} -n ${e}`})),r(X,{from:s},a=>r(jt,{a})))}function jt({a:e}){let t={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy\
.",Absent:`It is not in ${e.namespace}.`}[e.state];return r("div",{class:"story"},r("section",{class:"box"},r("h2",null,t),r("ul",null,e.because.map(n=>r("li",{
key:n,class:"message"},n)))),r("section",{"aria-labelledby":"way"},r("h2",{id:"way"},e.state==="Copy"?"The way of the copy":"The path from the root"),r("ol",{class:"\
way"},[...e.path].reverse().map(n=>r("li",{key:n,class:n===e.source?"source":n===e.namespace?"here "+e.state:""},r(S,{to:M(n)},n)," ",r("span",{class:"dim"},n===
e.source?"the source":n===e.namespace?{Copy:"the copy",Local:"made here",Absent:"not here"}[e.state]:""))))))}var Kt={connecting:"Connecting",live:"Live",lost:"Not connected"};function Wt(){let[e,t]=C(location.pathname),[n,o]=it(),s=F("/api/session",0);w(()=>{let l=()=>t(
location.pathname),m=u=>{u.key!=="/"||u.ctrlKey||u.metaKey||u.altKey||u.target.matches("input, textarea, select")||(u.preventDefault(),location.pathname!=="/"&&
te("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",l),addEventListener("keydown",m),()=>{removeEventListener(
"popstate",l),removeEventListener("keydown",m)}},[]);let a=s.data;return r(x,null,r("header",null,r(S,{to:"/",class:"brand"},r("img",{src:"/icon.svg",alt:"",width:"\
22",height:"22"}),r("b",null,"hns")),r("span",{class:"context"},a&&r(x,null,r("b",{title:"Cluster "+a.cluster},a.context||"no context"),r("span",{class:"dim"},"\
 ",a.user))),r("span",{class:"grow"}),r("span",{class:"dim wide"},"read-only"),r("span",{class:"state "+n,role:"status"},Kt[n])),s.error?.status===401?r("main",
null,r(ge,{problem:s.error.problem})):r(Yt,{key:e,path:e,version:o}))}function Yt({path:e,version:t}){let n=e.split("/").slice(1).map(o=>{try{return decodeURIComponent(
o)}catch{return o}});return e==="/"?r(ut,{version:t}):n[0]==="ns"&&n[1]&&n.length===2?r(mt,{name:n[1],version:t}):n[0]==="ns"&&n[3]&&n.length===4?r(dt,{namespace:n[1],
resource:n[2],name:n[3],version:t}):r("main",null,r(ge,{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}ot();Ce(
r(Wt,null),document.getElementById("app"));
