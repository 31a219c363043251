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
var fe="http://www.w3.org/2000/svg",Me="http://www.w3.org/1999/xhtml",ze="http://www.w3.org/1998/Math/MathML";var B={},H=[],Ye=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var J=Array.isArray;function U(e,n){for(let s in n)e[s]=n[s];return e}function ge(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var K=H.slice;function qe(e,n,s,o){let r,a,i;for(;n=n._parent;)if((r=n._component)&&!r._processingException)try{if(a=r.constructor,a&&a.getDerivedStateFromError!=null&&(r.setState(
a.getDerivedStateFromError(e)),i=r._dirty),r.componentDidCatch!=null&&(r.componentDidCatch(e,o||{}),i=r._dirty),i)return r._pendingError=r}catch(d){e=d}throw e}var Qt={_catchError:qe},x=Qt;var Wt=0;function t(e,n,s){let o={},r,a,i;for(i in n)i=="key"?r=n[i]:i=="ref"?a=n[i]:o[i]=n[i];if(arguments.length>2&&(o.children=arguments.length>3?K.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(i in e.defaultProps)o[i]===void 0&&(o[i]=e.defaultProps[i]);return X(e,o,r,a,null)}function X(e,n,s,o,r){let a={
type:e,props:n,key:s,ref:o,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:r==null?++Wt:r,_index:-1,_flags:0};return r==
null&&x.vnode!=null&&x.vnode(a),a}function v(e){return e.children}function Z(e,n){this.props=e,this.context=n}Z.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=U({},this.state),typeof e=="function"&&(e=e(U({},s),this.props)),e&&U(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),$e(this))};Z.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),$e(this))};Z.prototype.render=v;function D(e,n){if(n==null)return e._parent?
D(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?D(e):null}
function Gt(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,o=[],r=[],a=U({},n);a._original=n._original+1,x.vnode&&x.vnode(a),V(e._parentDom,a,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,o,s==null?D(n):s,!!(n._flags&32),r),a._original=n._original,a._parent._children[a._index]=a,_e(o,a,r),n._dom=n._parent=
null,a._dom!=s&&Je(a)}}function Je(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),Je(e)}var Q=[],Re,zt=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function $e(e){
(!e._dirty&&(e._dirty=!0)&&Q.push(e)&&!be._rerenderCount++||Re!=x.debounceRendering)&&(Re=x.debounceRendering,(Re||zt)(be))}var Yt=(e,n)=>e._vnode._depth-n._vnode.
_depth;function be(){try{let e,n=1;for(;Q.length;)Q.length>n&&Q.sort(Yt),e=Q.shift(),n=Q.length,Gt(e)}finally{Q.length=be._rerenderCount=0}}be._rerenderCount=0;function Ue(e,n,s,o,r,a,i,d,m,f,c){let p,u,l,_,h,b=o&&o._children||H,k=n.length;for(m=qt(s,n,b,m,k),p=0;p<k;p++){if(l=s._children[p],l==null)continue;u=l._index!=
-1&&b[l._index]||B,l._index=p;let y=V(e,l,u,r,a,i,d,m,f,c);_=l._dom,l.ref&&u.ref!=l.ref&&(u.ref&&he(u.ref,null,l),c.push(l.ref,l._component||_,l)),h==null&&_!=null&&
(h=_),l._flags&4?(m=Xe(l,m,e),u._dom&&(u._dom=null)):typeof l.type=="function"&&y!==void 0?m=y:_&&(m=_.nextSibling),l._flags&=-7}return s._dom=h,m}function qt(e,n,s,o,r){
let a,i,d,m=s.length,f=m,c=0;for(e._children=new Array(r),a=0;a<r;a++){if(i=n[a],i==null||typeof i=="boolean"||typeof i=="function"){e._children[a]=null;continue}else
typeof i=="string"||typeof i=="number"||typeof i=="bigint"||i.constructor==String?i=e._children[a]=X(null,i,null,null,null):J(i)?i=e._children[a]=X(v,{children:i},
null,null,null):i.constructor===void 0&&i._depth>0?i=e._children[a]=X(i.type,i.props,i.key,i.ref?i.ref:null,i._original):e._children[a]=i;let p=a+c;i._parent=e,
i._depth=e._depth+1;let u=i._index=Jt(i,s,p,f);d=null,u!=-1&&(d=s[u],f--,d&&(d._flags|=2)),d==null||d._original==null?(u==-1&&(r>m?c--:r<m&&c++),typeof i.type!=
"function"&&(i._flags|=4)):u!=p&&(u==p-1?c--:u==p+1?c++:(u>p?c--:c++,i._flags|=4))}if(f)for(a=0;a<m;a++)d=s[a],d!=null&&(d._flags&2)==0&&(d._dom==o&&(o=D(d)),Fe(
d,d));return o}function Xe(e,n,s){if(typeof e.type=="function"){let o=e._children;for(let r=0;o&&r<o.length;r++)o[r]&&(o[r]._parent=e,n=Xe(o[r],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=D(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function Jt(e,n,s,o){let r=e.key,a=e.type,i=n[s],d=i!=null&&(i._flags&2)==0,m=o>(d?1:0);if(i===null&&r==null||d&&r==i.key&&a==i.type)return s;if(m){let f=s-1,c=s+
1;for(;f>=0||c<n.length;){let p=f>=0?f--:c++;if(i=n[p],i!=null&&(i._flags&2)==0&&r==i.key&&a==i.type)return p}}return-1}var tt=Math.random().toString(8),Ne="__d"+tt,ve="__a"+tt;function Ze(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||Ye.test(
n)?e[n]=s:e[n]=s+"px"}var Xt=/(PointerCapture)$|Capture$/i,nt=0;function le(e,n,s,o,r){let a;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof o==
"string"&&(e.style.cssText=o=""),o)for(n in o)s&&n in s||Ze(e.style,n,"");if(s)for(n in s)(!o||s[n]!=o[n])&&Ze(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){a=n!=
(n=n.replace(Xt,"$1"));let i=n.toLowerCase();i in e||n=="onFocusOut"||n=="onFocusIn"?n=i.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+a]=
s,s?o?s[ve]=o[ve]:(s[ve]=nt,e.addEventListener(n,a?et:Ve,a)):e.removeEventListener(n,a?et:Ve,a)}else{if(r==fe)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function st(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[Ne]==null)n[Ne]=nt++;else if(n[Ne]<s[ve])return;return s(x.event?x.event(n):n)}}}var Ve=st(!1),et=st(!0);function V(e,n,s,o,r,a,i,d,m,f){let c,p=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(m=!!(s._flags&32),d=n._dom=s._dom,a=[d]),(c=x._diff)&&c(n);e:
if(typeof p=="function"){let u=i.length;try{let l,_,h,b,k,y,A=n.props,O=p.prototype&&p.prototype.render;c=p.contextType;let me=c&&o[c._id],q=c?me?me.props.value:
c._defaultValue:o;if(s._component?(l=n._component=s._component,y=l._processingException=l._pendingError):(O?n._component=l=new p(A,q):(n._component=l=new Z(A,q),
l.constructor=p,l.render=en),me&&me.sub(l),l.state||(l.state={}),l._globalContext=o,_=l._dirty=!0,l._renderCallbacks=[],l._stateCallbacks=[]),O&&l._nextState==null&&
(l._nextState=l.state),O&&p.getDerivedStateFromProps!=null&&(l._nextState==l.state&&(l._nextState=U({},l._nextState)),U(l._nextState,p.getDerivedStateFromProps(
A,l._nextState))),h=l.props,b=l.state,l._vnode=n,_)O&&p.getDerivedStateFromProps==null&&l.componentWillMount!=null&&l.componentWillMount(),O&&l.componentDidMount!=
null&&l._renderCallbacks.push(l.componentDidMount);else{if(O&&p.getDerivedStateFromProps==null&&A!==h&&l.componentWillReceiveProps!=null&&l.componentWillReceiveProps(
A,q),n._original==s._original||!l._force&&l.shouldComponentUpdate!=null&&l.shouldComponentUpdate(A,l._nextState,q)===!1){n._original!=s._original&&(l.props=A,l.
state=l._nextState,l._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(Ge=>{Ge&&(Ge._parent=n)}),H.push.apply(l._renderCallbacks,l._stateCallbacks),
l._stateCallbacks=[],l._renderCallbacks.length&&i.push(l),d=D(s);break e}l.componentWillUpdate!=null&&l.componentWillUpdate(A,l._nextState,q),O&&l.componentDidUpdate!=
null&&l._renderCallbacks.push(()=>{l.componentDidUpdate(h,b,k)})}l.context=q,l.props=A,l._parentDom=e,l._force=!1;let de=x._render,Kt=0;if(O)l.state=l._nextState,
l._dirty=!1,de&&de(n),c=l.render(l.props,l.state,l.context),H.push.apply(l._renderCallbacks,l._stateCallbacks),l._stateCallbacks=[];else do l._dirty=!1,de&&de(n),
c=l.render(l.props,l.state,l.context),l.state=l._nextState;while(l._dirty&&++Kt<25);l.state=l._nextState,l.getChildContext!=null&&(o=U(U({},o),l.getChildContext())),
O&&!_&&l.getSnapshotBeforeUpdate!=null&&(k=l.getSnapshotBeforeUpdate(h,b));let Ae=c!=null&&c.type===v&&c.key==null?rt(c.props.children):c;d=Ue(e,J(Ae)?Ae:[Ae],n,
s,o,r,a,i,d,m,f),l.base=n._dom,n._flags&=-161,l._renderCallbacks.length&&i.push(l),y&&(l._pendingError=l._processingException=null)}catch(l){if(i.length=u,n._original=
null,m||a!=null){if(l.then){for(n._flags|=m?160:128;d&&d.nodeType==8&&d.nextSibling;)d=d.nextSibling;a!=null&&(a[a.indexOf(d)]=null),n._dom=d}else if(a!=null)for(let _=a.
length;_--;)ge(a[_])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),l.then||ot(n),x._catchError(l,n,s)}}else a==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):d=n._dom=Vt(s._dom,n,s,o,r,a,i,m,f);return(c=x.diffed)&&c(n),n._flags&128?void 0:d}function ot(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(ot))}function _e(e,n,s){for(let o=0;o<s.length;o++)he(s[o],s[++o],s[++o]);x._commit&&x._commit(n,e),e.some(o=>{try{e=o.
_renderCallbacks,o._renderCallbacks=[],e.some(r=>{r.call(o)})}catch(r){x._catchError(r,o._vnode)}})}function rt(e){return typeof e!="object"||e==null||e._depth>
0?e:J(e)?e.map(rt):e.constructor!==void 0?null:U({},e)}function Vt(e,n,s,o,r,a,i,d,m){let f=s.props||B,c=n.props,p=n.type,u,l,_,h,b,k,y;if(p=="svg"?r=fe:p=="mat\
h"?r=ze:r||(r=Me),a!=null){for(u=0;u<a.length;u++)if(b=a[u],b&&"setAttribute"in b==!!p&&(p?b.localName==p:b.nodeType==3)){e=b,a[u]=null;break}}if(e==null){if(p==
null)return document.createTextNode(c);e=document.createElementNS(r,p,c.is&&c),d&&(x._hydrationMismatch&&x._hydrationMismatch(n,a),d=!1),a=null}if(p==null)f!==c&&
(!d||e.data!=c)&&(e.data=c);else{if(a=p=="textarea"&&c.defaultValue!=null?null:a&&K.call(e.childNodes),!d&&a!=null)for(f={},u=0;u<e.attributes.length;u++)b=e.attributes[u],
f[b.name]=b.value;for(u in f)b=f[u],u=="dangerouslySetInnerHTML"?_=b:u!="children"&&!(u in c)&&!(u=="value"&&"defaultValue"in c)&&!(u=="checked"&&"defaultChecke\
d"in c)&&le(e,u,null,b,r);for(u in c)b=c[u],u=="children"?h=b:u=="dangerouslySetInnerHTML"?l=b:u=="value"?k=b:u=="checked"?y=b:(!d||typeof b=="function")&&f[u]!==
b&&le(e,u,b,f[u],r);if(l)!d&&(!_||l.__html!=_.__html&&l.__html!=e.innerHTML)&&(e.innerHTML=l.__html),n._children=[];else if(_&&(e.innerHTML=""),Ue(n.type=="temp\
late"?e.content:e,J(h)?h:[h],n,s,o,p=="foreignObject"?Me:r,a,i,a?a[0]:s._children&&D(s,0),d,m),a!=null)for(u=a.length;u--;)ge(a[u]);(!d||p=="textarea")&&(u="val\
ue",p=="progress"&&k==null?e.removeAttribute("value"):k!=void 0&&(k!==e[u]||p=="progress"&&!k||p=="option"&&k!=f[u])&&le(e,u,k,f[u],r),u="checked",y!=void 0&&y!=
e[u]&&le(e,u,y,f[u],r))}return e}function he(e,n,s){try{if(typeof e=="function"){let o=typeof e._unmount=="function";o&&e._unmount(),(!o||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(o){x._catchError(o,s)}}function Fe(e,n,s){let o;if(x.unmount&&x.unmount(e),(o=e.ref)&&(!o.current||o.current==e._dom)&&he(o,null,n),
(o=e._component)!=null){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(r){x._catchError(r,n)}o.base=o._parentDom=o._globalContext=null}if(o=e._children)
for(let r=0;r<o.length;r++)o[r]&&Fe(o[r],n,s||typeof e.type!="function");s||ge(e._dom),e._component=e._parent=e._dom=void 0}function en(e,n,s){return this.constructor(
e,s)}function Oe(e,n,s){n==document&&(n=document.documentElement),x._root&&x._root(e,n);let o=typeof s=="function",r=o?null:s&&s._children||n._children;e=(!o&&s||n).
_children=t(v,null,[e]);let a=[],i=[];V(n,e,r||B,B,n.namespaceURI,!o&&s?[s]:r?null:n.firstChild?K.call(n.childNodes):null,a,!o&&s?s:r?r._dom:n.firstChild,o,i),_e(
a,e,i),e.props.children=null}var ce,C,De,xe=0,dt=[],L=x,at=L._diff,it=L._render,lt=L.diffed,ct=L._commit,pt=L.unmount,ut=L._root,tn=35,je;L._diff=e=>{C=null,at&&at(e)};L._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),ut&&ut(e,n)};L._render=e=>{it&&it(e),C=e._component,ce=0;let n=C.__hooks;n&&(De===C?(n._pendingEffects=
[],C._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(we),n._pendingEffects.
some(Be),n._pendingEffects=[],ce=0)),De=C};L.diffed=e=>{lt&&lt(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&rn(dt.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),De=C=null};L._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(we),s._renderCallbacks=
s._renderCallbacks.filter(o=>o._value?Be(o):!0)}catch(o){n.some(r=>{r._renderCallbacks&&(r._renderCallbacks=[])}),n=[],L._catchError(o,s._vnode)}}),ct&&ct(e,n)};
L.unmount=e=>{pt&&pt(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(o=>{try{we(o)}catch(r){s=r}}),n.__hooks=void 0,s&&L._catchError(s,n._vnode)}};
function Ie(e,n){L._hook&&L._hook(C,e,xe||n),xe=0;let s=C.__hooks||(C.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function w(e){return xe=1,nn(gt,e)}function nn(e,n,s){let o=Ie(ce++,2);if(o._reducer=e,!o._component&&(o._value=[s?s(n):gt(void 0,n),r=>{let a=o._nextValue?o._nextValue[0]:
o._value[0],i=o._reducer(a,r);a!==i&&(o._nextValue=[i,o._value[1]],o._component.setState({}))}],o._component=C,!C._hasScuFromHooks)){let i=function(d,m,f){if(!o.
_component.__hooks)return!0;let c=!1,p=o._component.props!==d;if(o._component.__hooks._list.some(u=>{if(u._nextValue){c=!0;let l=u._value[0];u._value=u._nextValue,
u._nextValue=void 0,l!==u._value[0]&&(p=!0)}}),r){let u=r.call(this,d,m,f);return c?u||p:u}return!c||p};C._hasScuFromHooks=!0;let r=C.shouldComponentUpdate,a=C.
componentWillUpdate;C.componentWillUpdate=function(d,m,f){if(this._force){let c=r;r=void 0,i(d,m,f),r=c}a&&a.call(this,d,m,f)},C.shouldComponentUpdate=i}return o.
_nextValue||o._value}function N(e,n){let s=Ie(ce++,3);!L._skipEffects&&ft(s._args,n)&&(s._value=e,s._pendingArgs=n,C.__hooks._pendingEffects.push(s))}function ee(e){return xe=5,W(()=>({current:e}),[])}function W(e,n){let s=Ie(ce++,7);return ft(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function sn(){let e;for(;e=dt.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(we),n._pendingEffects.some(Be),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],L._catchError(s,e._vnode)}}}var mt=typeof requestAnimationFrame=="function";function on(e){let n=()=>{clearTimeout(s),mt&&cancelAnimationFrame(
o),setTimeout(e)},s=setTimeout(n,tn),o;mt&&(o=requestAnimationFrame(n))}function rn(e){(e===1||je!==L.requestAnimationFrame)&&(je=L.requestAnimationFrame,(je||on)(
sn))}function we(e){let n=C,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),C=n}function Be(e){let n=C;e._cleanup=e._value(),C=n}function ft(e,n){return!e||
e.length!==n.length||n.some((s,o)=>s!==e[o])}function gt(e,n){return typeof n=="function"?n(e):n}var bt="hns-token";function _t(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(bt,e),history.replaceState(null,"",location.
pathname+location.search))}var G=class extends Error{constructor(s,o){super(o.title);this.status=s;this.problem=o}status;problem},an={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function He(e,n,s){let o;try{o=await fetch(e,
{signal:n,credentials:"omit",cache:"no-store",headers:{"X-HNS-Token":sessionStorage.getItem(bt)??"",...s?{"Content-Type":"application/json"}:{}},...s?{method:"P\
OST",body:JSON.stringify(s)}:{}})}catch(a){throw n?.aborted?a:new G(0,an)}if(o.ok)return o;let r={title:`The server answers ${o.status}`};try{r=await o.json()}catch{}
throw new G(o.status,r)}async function yt(e,n){await He(e,void 0,n)}function S(e,n,s=!1){let[o,r]=w({path:e}),a=ee(0),[i,d]=w(0);return N(()=>{if(s)return;let m=new AbortController,
f=0;return He(e,m.signal).then(c=>c.json()).then(c=>{a.current=0,r({path:e,data:c,at:new Date})},c=>{if(m.signal.aborted)return;let p=c instanceof G?c:new G(0,{
title:"The answer cannot be read",detail:String(c)});r(u=>u.path===e&&p.status!==404&&p.status!==403?{...u,error:p}:{path:e,error:p}),(p.status===0||p.status>=500)&&
(f=window.setTimeout(()=>d(u=>u+1),Math.min(30,2**++a.current)*1e3))}),()=>{m.abort(),clearTimeout(f)}},[e,n,i,s]),o.path===e?o:{}}function ht(){let[e,n]=w("con\
necting"),[s,o]=w(0);return N(()=>{let r,a=0,i=0,d=!1,m=()=>{d||document.hidden||(a=window.setTimeout(f,Math.min(15,2**i++)*1e3))},f=async()=>{clearTimeout(a);let p=r=
new AbortController,u=0,l=()=>{clearTimeout(u),u=window.setTimeout(()=>p.abort(),25e3)};try{l();let _=(await He("/api/changes",p.signal)).body.pipeThrough(new TextDecoderStream).
getReader();for(let h=await _.read();!h.done;h=await _.read())l(),i=0,n("live"),h.value.includes("changed")&&o(b=>b+1)}catch(_){_ instanceof G&&_.status===401&&
(d=!0)}clearTimeout(u),!(r!==p||d)&&(document.hidden||n("lost"),m())},c=()=>{clearTimeout(a),r?.abort(),r=void 0,document.hidden||(i=0,o(p=>p+1),f())};return document.
addEventListener("visibilitychange",c),document.hidden||f(),()=>{d=!0,clearTimeout(a),r?.abort(),document.removeEventListener("visibilitychange",c)}},[]),[e,s]}function kt(e){let n=new Map;for(let a of e)n.set(a.name,{member:a,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let a of n.values()){let i=a.
member.parent?n.get(a.member.parent):void 0;a.parentMissing=!!a.member.parent&&!i,i?i.children.push(a):s.push(a)}let o=new Set,r=a=>{let i=[a];o.add(a);for(let d=0;d<
i.length;d++){i[d].children=i[d].children.filter(m=>!o.has(m));for(let m of i[d].children)o.add(m),i.push(m)}for(let d=i.length-1;d>=0;d--){let m=i[d];m.problems=
m.member.problems?.length??0;for(let f of m.children)m.problems+=f.problems,m.descendants+=f.descendants+1;vt(m.children)}};s.forEach(r);for(let a of n.values())
o.has(a)||(s.push(a),r(a));return vt(s)}function vt(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function ln(e,n){
if(n.problems&&!e.problems?.length)return!1;let s=n.text.trim().toLowerCase(),o=s.indexOf("=");return o>0?e.labels?.[n.text.trim().slice(0,o)]?.toLowerCase()===
s.slice(o+1):e.name.includes(s)}function te(e){return e.problems||e.text.trim()!==""}function xt(e,n,s){let o=te(n),r=new Set;if(o){let f=[];for(let c of e)f.push(
{node:c,above:[]});for(let c=f.pop();c;c=f.pop()){if(ln(c.node.member,n)){r.add(c.node);for(let u of c.above)r.add(u)}let p=c.node.children.length?[...c.above,c.
node]:c.above;for(let u of c.node.children)f.push({node:u,above:p})}}let a=f=>o?f.filter(c=>r.has(c)):f,i=[],d=[],m=(f,c,p)=>{for(let u=f.length-1;u>=0;u--)d.push(
{node:f[u],depth:c,parent:p,expanded:!1,position:u+1,siblings:f.length})};m(a(e),0,-1);for(let f=d.pop();f;f=d.pop()){let c=a(f.node.children);f.expanded=c.length>
0&&(o||s(f.node)),i.push(f),f.expanded&&m(c,f.depth+1,i.length-1)}return i}function z(e){let n=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();return n.charAt(
0).toUpperCase()+n.slice(1)}function Ee(e,n=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));return s<120?s+"s":s<3*3600?Math.floor(
s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function T(e,n,s=n+"s"){return`${e.toLocaleString(
"en")} ${e===1?n:s}`}var wt=e=>Math.round(e*100)+"%";function cn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","G","T","P","E"].indexOf(e);return n>=
0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:1}function pe(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/cn(s)).toFixed(3)+s}function Et(e,n,s){let o={name:e.namespace,
own:0,sum:0,children:[]},r=new Map([[o.name,o]]);for(let{namespace:i,used:d}of e.namespaces){if(!d[n])continue;let m=r.get(i),f=[];for(let l=i;l&&!r.has(l)&&!f.
includes(l);l=s.get(l))f.push(l);let c=f.length&&s.get(f[f.length-1]),p=c&&r.get(c)||o,u=c&&r.has(c)?f:f.slice(0,1);for(let l of u.reverse())m={name:l,own:0,sum:0,
children:[]},p.children.push(m),r.set(l,m),p=m;m.own=d[n]}let a=i=>(i.sum=i.own+i.children.reduce((d,m)=>d+a(m),0),i.children.sort((d,m)=>m.sum-d.sum||(d.name<m.
name?-1:1)),i.sum);return a(o),o}function Ct(e){let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+`\r
`).join("")}function Ce(e){return e.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g,
n=>`⟨U+${n.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function St(e){let n=new Map;for(let s of e)for(let o of s.access??[]){let r=`${o.kind}\
 ${o.namespace?o.namespace+"/":""}${o.name} ${o.change==="Gained"?"gains":"loses"} ${o.roleKind}/${o.role}`;n.has(r)||n.set(r,{change:o.change,text:r,namespaces:[]}),
n.get(r).namespaces.push(s.name)}return[...n.values()]}function ne(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function E({to:e,children:n,...s}){return t("a",{href:e,onClick:r=>{
r.button||r.ctrlKey||r.metaKey||r.shiftKey||r.altKey||(r.preventDefault(),ne(e))},...s},n)}var pn=x.vnode;x.vnode=e=>{e.type===null&&typeof e.props=="string"?e.
props=Ce(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=Ce(e.props.title)),pn?.(e)};function $(e){N(()=>{document.title=Ce(e)+" · hns"},[e])}function se(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function Lt(e,n,s){let o=document.createElement("a");o.href=URL.createObjectURL(new Blob([s],{type:n})),o.download=e,o.click(),
setTimeout(()=>URL.revokeObjectURL(o.href),1e4)}function j({list:e}){return t(v,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+n.slice(1))))}
var P=e=>"/ns/"+e,ue=(e,n,s)=>`/ns/${e}/${n}/${encodeURIComponent(s)}`;function M({command:e}){let[n,s]=w(!1);return t("button",{class:"copy",onClick:()=>navigator.
clipboard.writeText(e).then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},t("code",null,e),t("span",{"aria-live":"polite"},
n?"Copied":"Copy"))}function oe({problem:e}){return t("section",{class:"box bad",role:"alert"},t("h2",null,e.title),e.missingPermission&&t("p",null,"Missing per\
mission: ",t("code",null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),e.hint&&t("p",null,e.hint))}function R({from:e,children:n}){let[s,o]=w(
!1);return N(()=>{let r=setTimeout(()=>o(!0),200);return()=>clearTimeout(r)},[]),e.data?t(v,null,e.error&&t("p",{class:"stale",role:"status"},t("b",null,e.error.
problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint),n(e.data)):e.error?t(oe,{problem:e.error.problem}):t("p",{class:"\
dim",role:"status"},s?"Reading from the cluster …":"")}function Tt({text:e}){return t("pre",{class:"diff"},e.split(`
`).filter((n,s,o)=>n||s<o.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function re({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?z(n.type).toLowerCase():z(n.type))," ",t("b",null,z(n.reason))," ",t("span",{class:"message"},n.message))))}function At({name:e,version:n}){let s=S("/api/namespaces/"+e,n);return $(e),t("main",null,!s.data&&t(Se,{name:e,page:""}),t(R,{from:s},o=>t(mn,{ns:o,version:n})))}
var un=[["","Overview"],["access","Access"]],Pt=new Map;function Se({name:e,page:n,path:s,abstract:o,children:r}){return s&&Pt.set(e,s),s=Pt.get(e)??[e],t(v,null,
t(Ke,{names:s,abstract:o}),t("div",{class:"head"},t("h1",null,e),r),t("nav",{class:"tabs","aria-label":"Pages of "+e},un.map(([a,i])=>t(E,{key:a,to:P(e)+(a&&"/"+
a),"aria-current":a===n?"page":void 0},i)),t(E,{to:"/plan?namespace="+e},"Plan a change")))}function Ke({names:e,abstract:n=[]}){return t("nav",{"aria-label":"P\
ath to the root",class:"path"},t("ol",null,t("li",null,t(E,{to:"/"},"Forest")),[...n].reverse().map(s=>t("li",{key:"a "+s,class:"dim",title:"An abstract ancesto\
r: no namespace of the cluster"},s)),e.map((s,o)=>t("li",{key:s},o===e.length-1?t("b",{"aria-current":"page"},s):t(E,{to:P(s)},s)))))}function mn({ns:e,version:n}){
let s=[e.kind==="full"?"full namespace":e.kind,e.path.length>1?`level ${e.path.length}`:"root",e.created&&`${Ee(e.created)} old`,e.allowsCascadingDeletion?`sub-\
namespaces are deleted with it${e.cascadingDeletionSetFrom&&e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);
return t(v,null,t(Se,{name:e.name,page:"",path:e.path,abstract:e.abstractAncestors},t("p",{class:"summary"},e.deleting&&t(v,null,t("b",{class:"bad"},"being dele\
ted")," · "),s.join(" · ")),t(M,{command:"kubectl hns describe "+e.name})),e.excluded&&t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copi\
ed to it or from it."),t(j,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,T(e.problems.length,"problem")),t(re,{list:e.problems})),
t("div",{class:"columns"},t("section",{"aria-labelledby":"policy"},t("h2",{id:"policy"},"Policy"),e.resources.map(o=>t(dn,{key:o,namespace:e.name,resource:o,version:n}))),
t("div",null,t(fn,{ns:e}),t(gn,{ns:e}))))}function dn({namespace:e,resource:n,version:s}){let o=S(`/api/namespaces/${e}/objects/${n}`,s),[r,...a]=n.split("."),i=o.
data?.items??[],d=i.filter(m=>m.state!=="Absent").length;return t("section",{class:"kind","aria-label":n},t("h3",null,t("span",null,r),a.length>0&&t("small",{class:"\
dim"},a.join(".")),t("span",{class:"grow"}),o.data&&t("small",{class:"dim"},d?T(d,"object"):"none"),o.data?.mode&&t("span",{class:"tag"},o.data.mode)),o.error&&
!o.data&&t("p",{class:"note"},o.error.problem.missingPermission?t(v,null,"Missing permission: ",t("code",null,o.error.problem.missingPermission)):o.error.problem.
detail),o.data?.notes?.map(m=>t("p",{class:"note",key:m},m)),i.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,"Name"),t("th",null,"\
Where it comes from"))),t("tbody",null,i.map(m=>t("tr",{key:m.name,class:m.state},t("td",null,t(E,{to:ue(e,n,m.name)},m.name)),t("td",null,m.state==="Copy"?t(v,
null,"copied from ",t(E,{to:P(m.source)},m.source)):m.state==="Local"?t(v,null,"made here ",m.override&&t("span",{class:"tag"},"override")):t(v,null,t("span",{class:"\
tag"},"not here")," is in ",t(E,{to:P(m.source)},m.source)," · ",t(E,{to:ue(e,n,m.name)},"why not here?"))))))))}function fn({ns:e}){return t("section",{class:"\
box","aria-labelledby":"children"},t("h2",{id:"children"},"Children ",t("small",{class:"dim"},e.children.length||"")),e.children.length?t("ul",{class:"plain"},e.
children.map(n=>t("li",{key:n.name},t(E,{to:P(n.name)},n.name)," ",t("span",{class:"dim"},n.subnamespace?"sub-namespace":""),n.state&&n.state!=="Ok"&&t("span",{
class:"tag bad"},n.state)))):t("p",{class:"dim"},"None."))}function gn({ns:e}){let n=e.labelsFrom.filter(r=>!r.tree),s=e.labelsFrom.filter(r=>r.tree),o=r=>t("li",
{key:r.key},t("code",null,r.key,"=",r.value),r.from&&t("span",{class:"dim"}," set by the hierarchy ",r.from===e.name?"here":t(v,null,"in ",t(E,{to:P(r.from)},r.
from))));return t("section",{class:"box","aria-labelledby":"labels"},t("h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(o)):t("p",{class:"dim"},
"None of its own."),s.length>0&&t("details",null,t("summary",null,s.length," set by its place in the tree"),t("ul",{class:"plain"},s.map(o))))}var bn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],_n=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function Mt({name:e,version:n}){let[s,o]=se(),r=s.get("verb")??"",a=s.get("resource")??"",i=r!==""&&a!=="",d=S(`/api/namespaces/${e}/access`+(i?"?"+
new URLSearchParams({verb:r,resource:a}):""),n);return $(`Access to ${e}`),t("main",null,t(Se,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:f=>{f.
preventDefault();let c=new FormData(f.target);o({verb:String(c.get("verb")).trim(),resource:String(c.get("resource")).trim()})},key:r+" "+a,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",value:r,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-label":"Ve\
rb"})),t("input",{name:"resource",list:"resources",value:a,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"Resource"}),t("\
label",null,"in ",e,"?"),t("datalist",{id:"verbs"},bn.map(f=>t("option",{key:f,value:f}))),t("datalist",{id:"resources"},_n.map(f=>t("option",{key:f,value:f}))),
t("button",{class:"primary"},"Show"),i&&t("button",{type:"button",onClick:()=>o({})},"Show all grants"),t("span",{class:"grow"}),t(M,{command:`kubectl hns who ${e}`+
(i?` ${r} ${a}`:"")})),t(R,{from:d},f=>t(yn,{name:e,access:f,permission:i?`${r} ${a}`:""})))}var Le=e=>e.subject.namespace?`${e.subject.namespace}/${e.subject.name}`:
e.subject.name;function yn({name:e,access:n,permission:s}){let[o,r]=w(""),a=n.grants??[],i=a.filter(l=>(Le(l)+" "+l.role).toLowerCase().includes(o.trim().toLowerCase())),
d=i.filter(l=>!l.unknown),m=d.filter(l=>l.at),f=d.filter(l=>!l.at),c=i.filter(l=>l.unknown),p=new Set(a.filter(l=>!l.unknown).map(l=>l.subject.kind+" "+Le(l))).
size,u=()=>Lt(`access-${e}.csv`,"text/csv",Ct([["kind","subject","role","binding","set in","only","known"],...i.map(l=>[l.subject.kind,Le(l),l.role,l.binding,l.
at??"(cluster)",(l.names??[]).join(" "),l.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},s?`${T(p,"subject")} can ${s}\
 in ${e}`:`${T(p,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","aria-label":"Filter by subjec\
t or role",value:o,onInput:l=>r(l.target.value)}),t("button",{onClick:u,disabled:!i.length},"CSV")),t(j,{list:n.notes}),t(Qe,{title:"By bindings in the namespac\
e and its ancestors",name:e,grants:m,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(Qe,{title:"In the whole cluster",name:e,grants:f,
open:m.length===0&&s!==""}),t(Qe,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:c,open:!0}),t("p",{class:"dim"},"As RBAC\
 grants it. Members of the group system:masters may do everything."))}function Qe({title:e,name:n,grants:s,open:o,empty:r}){return!s.length&&!r?null:t("details",
{class:"box fold",open:o},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"list"},t("thead",null,t("tr",null,t(
"th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,s.map((a,i)=>t("tr",{key:i},t("td",null,t("span",{class:"\
dim"},a.subject.kind)," ",t("b",null,Le(a))),t("td",{"data-label":"Role"},a.role,a.names&&t("span",{class:"dim"}," only ",a.names.join(", "))),t("td",{"data-lab\
el":"Binding"},a.binding.startsWith("RoleBinding/")?t(E,{to:ue(n,"rolebindings.rbac.authorization.k8s.io",a.binding.slice(12))},a.binding):a.binding),t("td",{"d\
ata-label":"Set in"},a.at?a.at===n?"here":t(E,{to:P(a.at)},a.at):"the cluster"))))):t("p",{class:"dim"},r))}var hn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function $t({version:e}){let n=S("/api/administration",e),[s,o]=w(0),r=S("/api/checks",s);return $("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(R,{from:n},a=>t(vn,{a})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>o(a=>a+1)},"Check again"),t(M,{command:"kubectl hns doctor"})),t(R,{from:r},
a=>t(kn,{list:a}))))}function vn({a:e}){return t(v,null,t(j,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,T(e.problems.length,
"problem")),t(re,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t(M,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},hn[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hnc-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(v,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t(M,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},T(n.objects,"object"),n.applied&&t(v,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(v,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var Rt=["error","warning","unknown","ok"];function kn({list:e}){let n=[...e].sort((a,i)=>Rt.indexOf(
a.severity)-Rt.indexOf(i.severity)),s=n.filter(a=>a.severity!=="ok"),o=n.filter(a=>a.severity==="ok"),r=a=>t("ul",{class:"plain checks"},a.map((i,d)=>t("li",{key:d,
class:i.severity},t("span",{class:"tag "+(i.severity==="ok"?"":i.severity==="unknown"?"warn":"bad")},i.severity),t("span",null,t("b",null,i.subject)," ",i.text,
i.hint&&t("p",{class:"hint"},i.hint)))));return t(v,null,s.length?r(s):t("p",{class:"good"},"All ",o.length," checks are well."),o.length>0&&t("details",null,t(
"summary",null,T(o.length,"check")," without findings"),r(o)))}function Ut({version:e}){let n=S("/api/quotas",e),s=S("/api/forest",e);return $("Quotas"),t("main",null,t(R,{from:n},o=>t(xn,{data:o,forest:s.data})))}var Te=e=>e>=
1?"full":e>=.8?"high":"";function Pe({limit:e,parts:n}){let s=o=>e.value>0?Math.min(100,o/e.value*100)+"%":"0%";return t("span",{class:"bar "+Te(e.share),role:"\
meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},
(n??[{name:"",value:e.share*e.value}]).map((o,r)=>t("i",{key:o.name,class:r%2?"odd":"",style:{width:s(o.value)},title:o.name&&`${o.name}: ${pe(o.value,e.hard)}`})))}
function xn({data:e,forest:n}){let[s,o]=se(),r=s.get("resource")??"",a=W(()=>new Map(n?.namespaces.map(c=>[c.name,c.parent])),[n]),i=[...new Set(e.quotas.flatMap(
c=>c.limits.map(p=>p.resource)))].sort(),d=c=>Math.max(0,...c.limits.filter(p=>!r||p.resource===r).map(p=>p.share)),m=e.quotas.filter(c=>!r||c.limits.some(p=>p.
resource===r)).sort((c,p)=>+!!p.problems-+!!c.problems||d(p)-d(c)),f=e.quotas.filter(c=>c.limits.some(p=>p.share>=1)).length;return t(v,null,t("div",{class:"hea\
d"},t("h1",null,"Quotas"),t("p",{class:"summary"},T(e.quotas.length,"quota"),", the fullest first",f>0&&t(v,null," · ",t("b",{class:"bad"},f," full"))),t(M,{command:"\
kubectl hns hrq -A --tree"})),t(j,{list:e.notes}),i.length>1&&t("div",{class:"tools"},t("label",null,"Resource ",t("select",{value:r,onChange:c=>o(c.target.value?
{resource:c.target.value}:{})},t("option",{value:""},"all"),i.map(c=>t("option",{key:c,value:c},c))))),m.length?m.map(c=>t(wn,{key:c.namespace+"/"+c.name,quota:c,
parents:a,only:r})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may see","."))}function wn({quota:e,
parents:n,only:s}){let[o,r]=w(""),a=e.limits.filter(i=>!s||i.resource===s);return t("section",{class:"box","aria-label":`Quota ${e.name} of ${e.namespace}`,"dat\
a-quota":e.namespace+"/"+e.name},t("h2",null,t(E,{to:P(e.namespace)},e.namespace)," ",t("span",{class:"dim"},"/")," ",e.name," ",e.scoped&&t("span",{class:"tag"},
"scoped")),e.problems&&t(re,{list:e.problems}),a.map((i,d)=>{let m=Et(e,i.resource,n),f=o===i.resource;return t("div",{class:"limit",key:i.resource},t("button",
{class:"twist","aria-expanded":f,"aria-label":`Use of ${i.resource} by namespace`,disabled:!m.children.length&&!m.own,onClick:()=>r(f?"":i.resource)},f?"▾":"▸"),
t("span",{class:"what"},i.resource,d===0&&e.limits.length>1&&!s&&i.share>0&&t("span",{class:"tag"},"binds first")),t(Pe,{limit:i,parts:e.omitted?void 0:[...m.own?
[{name:e.namespace,value:m.own}]:[],...m.children.map(c=>({name:c.name,value:c.sum}))]}),t("span",{class:"num "+Te(i.share)},i.used," of ",i.hard," ",t("span",{
class:"dim"},wt(i.share))),f&&t("ul",{class:"use"},t(Ft,{use:m,limit:i})))}),a.length===0&&t("p",{class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"\
note"},T(e.omitted,"namespace")," more use it than are listed."))}function Ft({use:e,limit:n}){let s={...n,used:pe(e.sum,n.hard),share:n.value>0?e.sum/n.value:1};
return t("li",null,t("div",{class:"branch"},t(E,{to:P(e.name)},e.name),t("span",{class:"num"},pe(e.sum,n.hard),e.children.length>0&&t("span",{class:"dim"}," (",
pe(e.own,n.hard)," itself)")),t(Pe,{limit:s})),e.children.length>0&&t("ul",null,e.children.map(o=>t(Ft,{key:o.name,use:o,limit:n}))))}var I=30,En=200,We=new Map,Nt={text:"",problems:!1},Ot="";function jt({version:e}){let n=S("/api/forest",e);$("Forest");let s=S("/api/quotas",e);return t("main",
{class:"forest"},t(R,{from:n},o=>t(Sn,{forest:o,quotas:s.data})))}function Cn(e,n){let s=new Map;for(let o of e.quotas)for(let r of o.limits)(!n||r.resource===n)&&
!(s.get(o.namespace)?.share>=r.share)&&s.set(o.namespace,r);return s}function Sn({forest:e,quotas:n}){let[s,o]=w(Ot),r=y=>{Ot=y,o(y)},a=W(()=>[...new Set(n?.quotas.
flatMap(y=>y.limits.map(A=>A.resource)))].sort(),[n]),i=W(()=>n?.quotas.length?Cn(n,s):void 0,[n,s]),d=W(()=>kt(e.namespaces),[e]),[m,f]=w(Nt),c=y=>{Nt=y,f(y)},
[,p]=w(0),u=e.namespaces.length<=En,_=xt(d,m,y=>We.get(y.member.name)??(u||y.problems>(y.member.problems?.length??0))),h=e.namespaces.filter(y=>y.problems?.length),
b=(y,A)=>{We.set(y.member.name,A),p(O=>O+1)},k=y=>{for(let A of e.namespaces)We.set(A.name,y);p(A=>A+1)};return t("div",null,t("div",{class:"head"},t("h1",null,
"Forest"),t("p",{class:"summary"},T(e.namespaces.length,"namespace")," in ",T(d.length,"tree")," · ",h.length?t("b",{class:"bad"},T(h.length,"namespace")," wit\
h problems"):t("span",{class:"good"},"no problems")),t(M,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),t("div",{class:"tools"},t(
"input",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:m.text,onInput:y=>c({...m,text:y.
target.value}),spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"checkbox",checked:m.problems,onChange:y=>c({...m,problems:y.target.
checked})})," With problems"),t("span",{class:"grow"}),a.length>0&&t("label",null,"Quota of ",t("select",{value:s,onChange:y=>r(y.target.value)},t("option",{value:""},
"the fullest"),a.map(y=>t("option",{key:y,value:y},y)))),t("button",{onClick:()=>k(!0),disabled:te(m)},"Expand all"),t("button",{onClick:()=>k(!1),disabled:te(m)},
"Collapse all")),_.length?t(Ln,{list:_,toggle:b,fixed:te(m),limits:i}):t("p",{class:"dim box",role:"status"},te(m)?"No namespace matches the filter.":"There are\
 no namespaces that you may see."))}function Ln({list:e,toggle:n,fixed:s,limits:o}){let r=ee(null),[a,i]=w({top:0,height:800}),[d,m]=w(""),f=Math.max(0,e.findIndex(
b=>b.node.member.name===d)),c=()=>{let b=r.current;b&&i({top:b.scrollTop,height:b.clientHeight})};N(()=>(c(),addEventListener("resize",c),()=>removeEventListener(
"resize",c)),[e.length]);let p=b=>{b=Math.max(0,Math.min(e.length-1,b)),m(e[b].node.member.name);let k=r.current;b*I<k.scrollTop&&(k.scrollTop=b*I),(b+1)*I>k.scrollTop+
k.clientHeight&&(k.scrollTop=(b+1)*I-k.clientHeight)},u=b=>{let k=e[f],y=Math.max(1,Math.floor(a.height/I)-1);if(!(b.ctrlKey||b.metaKey||b.altKey)){switch(b.key){case"\
ArrowDown":p(f+1);break;case"ArrowUp":p(f-1);break;case"PageDown":p(f+y);break;case"PageUp":p(f-y);break;case"Home":p(0);break;case"End":p(e.length-1);break;case"\
ArrowRight":k.expanded?p(f+1):k.node.children.length&&!s&&n(k.node,!0);break;case"ArrowLeft":k.expanded&&!s?n(k.node,!1):k.parent>=0&&p(k.parent);break;case"Ent\
er":ne(P(k.node.member.name));break;default:return}b.preventDefault()}},l=Math.max(0,Math.floor(a.top/I)-10),_=Math.min(e.length,Math.ceil((a.top+a.height)/I)+10),
h=e.slice(l,_);return t("div",{class:"grid"+(o?" limited":""),role:"treegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,
onKeyDown:u,"aria-activedescendant":f>=l&&f<_?"row-"+e[f].node.member.name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},t("span",{role:"col\
umnheader"},"Namespace"),t("span",{role:"columnheader"},"Problems"),o&&t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"columnheader",class:"\
wide"},"Kind"),t("span",{role:"columnheader",class:"num wide",title:"Namespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},"Age")),t("div",{class:"\
rows",role:"rowgroup",ref:r,onScroll:c,tabIndex:-1},t("div",{role:"presentation",style:{height:e.length*I+"px",position:"relative"}},h.map((b,k)=>t(Tn,{key:b.node.
member.name,row:b,index:l+k,active:l+k===f,fixed:s,choose:()=>m(b.node.member.name),toggle:n,limits:o})))))}function Tn({row:e,index:n,active:s,fixed:o,choose:r,
toggle:a,limits:i}){let{node:d,depth:m,expanded:f}=e,{member:c,children:p}=d,u=c.problems?.length??0,l=d.problems-u,_=i?.get(c.name);return t("div",{id:"row-"+c.
name,role:"row",class:"row"+(s?" active":"")+(u?" troubled":""),"aria-level":m+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-\
expanded":p.length?f:void 0,style:{top:n*I+"px","--depth":m},onMouseDown:r,draggable:!0,onDragStart:h=>h.dataTransfer.setData("text/x-namespace",c.name),onDragOver:h=>{
h.dataTransfer.types.includes("text/x-namespace")&&h.preventDefault()},onDrop:h=>{h.preventDefault();let b=h.dataTransfer.getData("text/x-namespace");b&&b!==c.name&&
ne(`/plan?namespace=${b}&change=move&parent=${c.name}`)}},t("span",{role:"gridcell",class:"name"},p.length?t("button",{class:"twist",tabIndex:-1,"aria-hidden":"\
true",disabled:o,onClick:()=>a(d,!f)},f?"▾":"▸"):t("span",{class:"twist"}),t(E,{to:P(c.name),tabIndex:-1,title:c.name},c.name),c.deleting&&t("span",{class:"\
tag"},"deleting")),t("span",{role:"gridcell",class:"what"},u?t("span",{class:"problem",title:c.problems.map(h=>`${z(h.type)}: ${h.message}`).join(`
`)},t("b",null,z(c.problems[0].reason))," ",t("span",{class:"wide"},c.problems[0].message),u>1&&` +${u-1}`):l&&!f?t("span",{class:"problem below"},l," below"):null),
i&&t("span",{role:"gridcell",class:"quota wide"},_&&t(E,{to:"/quotas",tabIndex:-1,title:`${_.resource}: ${_.used} of ${_.hard}`},t(Pe,{limit:_})," ",t("span",{class:Te(
_.share)},_.used,"/",_.hard)," ",t("span",{class:"dim"},_.resource))),t("span",{role:"gridcell",class:"dim wide"},c.kind==="full"?"":c.kind),t("span",{role:"gri\
dcell",class:"num dim wide"},d.descendants||""),t("span",{role:"gridcell",class:"num dim"},Ee(c.created)))}function Dt({namespace:e,resource:n,name:s,version:o}){let r=S(`/api/namespaces/${e}/objects/${n}/${encodeURIComponent(s)}`,o);return $(`${s} in ${e}`),t("main",
null,t(Ke,{names:[e,s]}),t("div",{class:"head"},t("h1",null,s),t("p",{class:"summary"},n," in ",e),t(M,{command:`kubectl hns explain ${n} ${s} -n ${e}`})),t(R,{
from:r},a=>t(Pn,{a})))}function Pn({a:e}){let n={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in\
 ${e.namespace}.`}[e.state];return t("div",{class:"story"},t("section",{class:"box"},t("h2",null,n),t("ul",null,e.because.map(s=>t("li",{key:s,class:"message"},
s)))),t("section",{"aria-labelledby":"way"},t("h2",{id:"way"},e.state==="Copy"?"The way of the copy":"The path from the root"),t("ol",{class:"way"},[...e.path].
reverse().map(s=>t("li",{key:s,class:s===e.source?"source":s===e.namespace?"here "+e.state:""},t(E,{to:P(s)},s)," ",t("span",{class:"dim"},s===e.source?"the sou\
rce":s===e.namespace?{Copy:"the copy",Local:"made here",Absent:"not here"}[e.state]:""))))))}var Y={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of \
a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},forbid:{
title:"Forbid cascading deletion",fields:[],write:!0}},It={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},An=["Propagate","Allow\
Propagate","Remove","Ignore"],Mn=2e3;function Ht({version:e}){let[n,s]=se(),o=S("/api/session",0),r=S("/api/forest",0),a=Object.fromEntries(n),[i,d]=w(a.change in
Y?a.change:"move");N(()=>{a.change in Y&&d(a.change)},[a.change]),$(a.namespace?`Plan for ${a.namespace}`:"Plan");let m=a.namespace&&a.change in Y&&Y[a.change].
fields.every(u=>a[u]),f=u=>{u.preventDefault();let l=new FormData(u.target);s(Object.fromEntries(["namespace","change",...Y[i].fields].map(_=>[_,String(l.get(_)).
trim()])))},c=(r.data?.namespaces??[]).slice(0,Mn),p=(u,l)=>t("input",{key:u,name:u,"aria-label":It[u]??"Namespace",placeholder:It[u]??"Namespace",list:l,value:a[u]??
"",required:!0,autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would d\
o. Looking at it changes nothing.")),t("form",{class:"tools ask box",onSubmit:f,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",p("namespace","\
namespaces")),t("select",{name:"change","aria-label":"Change",value:i,onChange:u=>d(u.target.value)},Object.entries(Y).filter(([,u])=>!u.write||o.data?.write).map(
([u,l])=>t("option",{key:u,value:u},l.title))),Y[i].fields.map(u=>u==="mode"?t("select",{key:u,name:u,"aria-label":"Mode",value:a.mode??"Propagate"},An.map(l=>t(
"option",{key:l,value:l},l))):p(u,u==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},c.map(u=>t("option",{key:u.name,value:u.name}))),t("button",
{class:"primary"},"Preview")),m&&t(Rn,{key:n.toString(),fields:a,version:e,session:o.data}))}function Rn({fields:e,version:n,session:s}){let[o,r]=w(!1),{namespace:a,
...i}=e,d=S(`/api/namespaces/${encodeURIComponent(a)}/plan?`+new URLSearchParams(i),n,o);return o?t("p",{class:"box good",role:"status"},"Done. ",e.change==="de\
lete"?"The namespace is being deleted.":"Copies follow within seconds."," ",t(E,{to:e.change==="delete"?"/":P(e.child??a)},e.change==="delete"?"Forest":e.child??
a)):t(R,{from:d},m=>t($n,{plan:m,fields:e,write:!!s?.write,done:()=>r(!0)}))}function $n({plan:e,fields:n,write:s,done:o}){let r=e.status,[a,i]=w(!1),d=r.namespaces??
[],m=a?d:d.slice(0,50),f=St(d),c=r.hidden?.map(p=>p.group?`${p.resource}.${p.group}`:p.resource);return t("div",{"data-plan":n.change},r.refusals?.map(p=>t("sec\
tion",{class:"box bad",role:"alert",key:p.message},t("h2",null,"It would be refused: ",p.reason),t("p",{class:"message"},p.message))),t("section",{class:"box"},
t("div",{class:"head"},t("h2",{role:"status"},e.summary),t("span",{class:"grow"}),e.see&&t(M,{command:e.see})),r.exceededQuotas&&t(v,null,t("h3",{class:"bad"},"\
Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",{class:"num"},
"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,r.exceededQuotas.map(p=>t("tr",{key:p.namespace+p.name+p.resource},t("td",null,
p.namespace,"/",p.name),t("td",null,p.resource),t("td",{class:"num","data-label":"Used"},p.used),t("td",{class:"num","data-label":"Moved"},p.moved),t("td",{class:"\
num","data-label":"Limit"},p.limit)))))),!!r.omittedExceededQuotas&&t("p",{class:"note"},T(r.omittedExceededQuotas,"limit")," more would be exceeded, of quotas \
that you may not get, or that are too many."),f.length>0&&t(v,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},f.map(p=>t("li",{key:p.text},t("span",
{class:"mark "+p.change},p.change==="Gained"?"+":"−"),p.text," ",t("span",{class:"dim"},"in ",p.namespaces.length>3?T(p.namespaces.length,"namespace"):p.namespaces.
join(", "))))))),t(j,{list:[...c?[`Left out, because you may not list them in ${n.namespace}: ${c.join(", ")}`]:[],...(r.unknown??[]).map(p=>"Not known: "+p)]}),
m.map(p=>t(Fn,{key:p.name,plan:p,open:d.length<=5})),m.length<d.length&&t("button",{onClick:()=>i(!0)},"Show ",d.length-m.length," more namespaces"),t(Nn,{plan:e,
fields:n,write:s,done:o}))}var Un={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},Bt={Add:"added",Change:"changed",Overwrite:"overwritten",Remove:"remo\
ved",Keep:"kept"};function Fn({plan:e,open:n}){let s=e.objects??[],o=Object.entries(Bt).map(([r,a])=>[s.filter(i=>i.action===r).length,a]).filter(([r])=>r);return t(
"details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t("h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},e.fate.toLowerCase())," ",
t("span",{class:"dim"},o.map(([r,a])=>`${r} ${a}`).join(", "))),t("ul",{class:"plain"},e.labels?.map(r=>t("li",{key:r.key},t("span",{class:"mark"},"~"),"label ",
t("code",null,r.key),": ",r.before||"none"," → ",r.after||"none")),e.quotas?.map(r=>t("li",{key:r.name+r.resource,class:"bad"},t("span",{class:"mark"},"!"),"R\
esourceQuota ",r.name," allows ",r.hard," of ",r.resource,", and there would be ",r.planned)),s.map(r=>t("li",{key:r.group+r.kind+r.name},t("span",{class:"mark "+
r.action},Un[r.action]),t("span",{class:"hidden"},Bt[r.action],": "),r.kind,"/",r.name,r.source&&t("span",{class:"dim"}," from ",r.source),r.difference&&t("deta\
ils",null,t("summary",null,"difference"),t(Tt,{text:r.difference}))))))}function Nn({plan:e,fields:n,write:s,done:o}){let r=ee(null),[a,i]=w(""),[d,m]=w(!1),[f,
c]=w(),p=n.change==="delete",{namespace:u,...l}=n,_=async h=>{h.preventDefault(),m(!0),c(void 0);try{await yt(`/api/namespaces/${encodeURIComponent(u)}/changes`,
{...l,confirm:a}),o()}catch(b){c(b),m(!1)}};return e.status.refusals?.length?null:t("section",{class:"box","aria-labelledby":"make"},t("div",{class:"head"},t("h\
2",{id:"make"},"Make the change"),t("span",{class:"grow"}),t(M,{command:e.make})),s?e.writable?t("button",{class:p?"danger":"primary",onClick:()=>r.current.showModal()},
"Apply …"):t("p",{class:"dim"},"The page does not make this change. Run the command."):t("p",{class:"dim"},"The page is read-only. Run the command, or start t\
he page with ",t("code",null,"kubectl hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:r,"aria-labelledby":"confirm",onClose:()=>{i(""),c(void 0)}},t("form",
{onSubmit:_},t("h2",{id:"confirm"},e.summary.replace(" would "," will ")),t("p",null,t("code",null,e.make)),p&&t("p",null,t("label",null,"What is in it is lost.\
 Type its name to delete it: ",t("input",{value:a,onInput:h=>i(h.target.value),"aria-label":"Name of the namespace",autocomplete:"off",spellcheck:!1}))),f&&t(oe,
{problem:f.problem}),t("div",{class:"tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>r.current.close()},"Cancel"),t("button",{class:p?"da\
nger":"primary",disabled:d||p&&a!==u},d?"Applying …":"Apply")))))}var On={connecting:"Connecting",live:"Live",lost:"Not connected"},jn=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],Dn=15e3;
function In(){let[e,n]=w(location.pathname),[,s]=w(location.search),[o,r]=w(0),[a,i]=ht(),d=S("/api/session",0);N(()=>{let f=()=>{n(location.pathname),s(location.
search)},c=setInterval(()=>document.hidden||r(u=>u+1),Dn),p=u=>{u.key!=="/"||u.ctrlKey||u.metaKey||u.altKey||u.target.matches("input, textarea, select")||(u.preventDefault(),
location.pathname!=="/"&&ne("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",f),addEventListener("keydown",p),
()=>{clearInterval(c),removeEventListener("popstate",f),removeEventListener("keydown",p)}},[]);let m=d.data;return t(v,null,t("header",null,t(E,{to:"/",class:"b\
rand"},t("img",{src:"/icon.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},jn.map(([f,c])=>t(E,{key:f,to:f,
"aria-current":e===f?"page":void 0},c))),t("span",{class:"context"},m&&t(v,null,t("b",{title:"Cluster "+m.cluster},m.context||"no context"),t("span",{class:"dim"},
" ",m.user))),t("span",{class:"grow"}),m&&t("span",{class:"wide tag"+(m.write?" warn":"")},m.write?"may write":"read-only"),t("span",{class:"state "+a,role:"sta\
tus"},On[a])),d.error?.status===401?t("main",null,t(oe,{problem:d.error.problem})):t(Bn,{key:e,path:e,version:i,tick:i+o}))}function Bn({path:e,version:n,tick:s}){
let o=e.split("/").slice(1).map(r=>{try{return decodeURIComponent(r)}catch{return r}});if(e==="/")return t(jt,{version:n});if(e==="/quotas")return t(Ut,{version:n});
if(e==="/plan")return t(Ht,{version:n});if(e==="/admin")return t($t,{version:s});if(o[0]==="ns"&&o[1]){if(o.length===2)return t(At,{name:o[1],version:s});if(o.length===
3&&o[2]==="access")return t(Mt,{name:o[1],version:s});if(o.length===4)return t(Dt,{namespace:o[1],resource:o[2],name:o[3],version:s})}return t("main",null,t(oe,
{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}_t();Oe(t(In,null),document.getElementById("app"));
