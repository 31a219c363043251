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
var pe="http://www.w3.org/2000/svg",Me="http://www.w3.org/1999/xhtml",qe="http://www.w3.org/1998/Math/MathML";var H={},D=[],Qe=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var G=Array.isArray;function U(e,t){for(let s in t)e[s]=t[s];return e}function ue(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var K=D.slice;function ze(e,t,s,r){let i,o,a;for(;t=t._parent;)if((i=t._component)&&!i._processingException)try{if(o=i.constructor,o&&o.getDerivedStateFromError!=null&&(i.setState(
o.getDerivedStateFromError(e)),a=i._dirty),i.componentDidCatch!=null&&(i.componentDidCatch(e,r||{}),a=i._dirty),a)return i._pendingError=i}catch(f){e=f}throw e}var Ot={_catchError:ze},x=Ot;var jt=0;function n(e,t,s){let r={},i,o,a;for(a in t)a=="key"?i=t[a]:a=="ref"?o=t[a]:r[a]=t[a];if(arguments.length>2&&(r.children=arguments.length>3?K.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(a in e.defaultProps)r[a]===void 0&&(r[a]=e.defaultProps[a]);return J(e,r,i,o,null)}function J(e,t,s,r,i){let o={
type:e,props:t,key:s,ref:r,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:i==null?++jt:i,_index:-1,_flags:0};return i==
null&&x.vnode!=null&&x.vnode(o),o}function v(e){return e.children}function X(e,t){this.props=e,this.context=t}X.prototype.setState=function(e,t){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=U({},this.state),typeof e=="function"&&(e=e(U({},s),this.props)),e&&U(s,e),e!=null&&this._vnode&&(t&&this._stateCallbacks.push(t),Re(this))};X.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Re(this))};X.prototype.render=v;function j(e,t){if(t==null)return e._parent?
j(e._parent,e._index+1):null;let s;for(;t<e._children.length;t++)if(s=e._children[t],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?j(e):null}
function It(e){if(e._parentDom&&e._dirty){let t=e._vnode,s=t._dom,r=[],i=[],o=U({},t);o._original=t._original+1,x.vnode&&x.vnode(o),Z(e._parentDom,o,t,e._globalContext,
e._parentDom.namespaceURI,t._flags&32?[s]:null,r,s==null?j(t):s,!!(t._flags&32),i),o._original=t._original,o._parent._children[o._index]=o,me(r,o,i),t._dom=t._parent=
null,o._dom!=s&&Ye(o)}}function Ye(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(t=>{if(t!=null&&t._dom!=null)
return e._dom=e._component.base=t._dom}),Ye(e)}var W=[],Pe,Bt=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Re(e){
(!e._dirty&&(e._dirty=!0)&&W.push(e)&&!fe._rerenderCount++||Pe!=x.debounceRendering)&&(Pe=x.debounceRendering,(Pe||Bt)(fe))}var Ht=(e,t)=>e._vnode._depth-t._vnode.
_depth;function fe(){try{let e,t=1;for(;W.length;)W.length>t&&W.sort(Ht),e=W.shift(),t=W.length,It(e)}finally{W.length=fe._rerenderCount=0}}fe._rerenderCount=0;function Ue(e,t,s,r,i,o,a,f,u,p,c){let b,d,l,h,k,g=r&&r._children||D,y=t.length;for(u=Dt(s,t,g,u,y),b=0;b<y;b++){if(l=s._children[b],l==null)continue;d=l._index!=
-1&&g[l._index]||H,l._index=b;let _=Z(e,l,d,i,o,a,f,u,p,c);h=l._dom,l.ref&&d.ref!=l.ref&&(d.ref&&be(d.ref,null,l),c.push(l.ref,l._component||h,l)),k==null&&h!=null&&
(k=h),l._flags&4?(u=Ge(l,u,e),d._dom&&(d._dom=null)):typeof l.type=="function"&&_!==void 0?u=_:h&&(u=h.nextSibling),l._flags&=-7}return s._dom=k,u}function Dt(e,t,s,r,i){
let o,a,f,u=s.length,p=u,c=0;for(e._children=new Array(i),o=0;o<i;o++){if(a=t[o],a==null||typeof a=="boolean"||typeof a=="function"){e._children[o]=null;continue}else
typeof a=="string"||typeof a=="number"||typeof a=="bigint"||a.constructor==String?a=e._children[o]=J(null,a,null,null,null):G(a)?a=e._children[o]=J(v,{children:a},
null,null,null):a.constructor===void 0&&a._depth>0?a=e._children[o]=J(a.type,a.props,a.key,a.ref?a.ref:null,a._original):e._children[o]=a;let b=o+c;a._parent=e,
a._depth=e._depth+1;let d=a._index=Kt(a,s,b,p);f=null,d!=-1&&(f=s[d],p--,f&&(f._flags|=2)),f==null||f._original==null?(d==-1&&(i>u?c--:i<u&&c++),typeof a.type!=
"function"&&(a._flags|=4)):d!=b&&(d==b-1?c--:d==b+1?c++:(d>b?c--:c++,a._flags|=4))}if(p)for(o=0;o<u;o++)f=s[o],f!=null&&(f._flags&2)==0&&(f._dom==r&&(r=j(f)),$e(
f,f));return r}function Ge(e,t,s){if(typeof e.type=="function"){let r=e._children;for(let i=0;r&&i<r.length;i++)r[i]&&(r[i]._parent=e,t=Ge(r[i],t,s));return t}else
e._dom!=t&&(t&&e.type&&!t.parentNode&&(t=j(e)),t=s.insertBefore(e._dom,t||null));do t=t&&t.nextSibling;while(t!=null&&t.nodeType==8);return t}function Kt(e,t,s,r){let i=e.key,o=e.type,a=t[s],f=a!=null&&(a._flags&2)==0,u=r>(f?1:0);if(a===null&&i==null||f&&i==a.key&&o==a.type)return s;if(u){let p=s-1,c=s+
1;for(;p>=0||c<t.length;){let b=p>=0?p--:c++;if(a=t[b],a!=null&&(a._flags&2)==0&&i==a.key&&o==a.type)return b}}return-1}var Ve=Math.random().toString(8),Fe="__d"+Ve,ge="__a"+Ve;function Je(e,t,s){t[0]=="-"?e.setProperty(t,s==null?"":s):s==null?e[t]="":typeof s!="number"||Qe.test(
t)?e[t]=s:e[t]=s+"px"}var Wt=/(PointerCapture)$|Capture$/i,et=0;function se(e,t,s,r,i){let o;e:if(t=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof r==
"string"&&(e.style.cssText=r=""),r)for(t in r)s&&t in s||Je(e.style,t,"");if(s)for(t in s)(!r||s[t]!=r[t])&&Je(e.style,t,s[t])}else if(t[0]=="o"&&t[1]=="n"){o=t!=
(t=t.replace(Wt,"$1"));let a=t.toLowerCase();a in e||t=="onFocusOut"||t=="onFocusIn"?t=a.slice(2):t=t.slice(2),e._listeners||(e._listeners={}),e._listeners[t+o]=
s,s?r?s[ge]=r[ge]:(s[ge]=et,e.addEventListener(t,o?Ze:Xe,o)):e.removeEventListener(t,o?Ze:Xe,o)}else{if(i==pe)t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!=
"width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{e[t]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||t[4]=="-")?e.setAttribute(t,t=="popover"&&s==!0?"":s):e.removeAttribute(t))}}function tt(e){return function(t){
if(this._listeners){let s=this._listeners[t.type+e];if(t[Fe]==null)t[Fe]=et++;else if(t[Fe]<s[ge])return;return s(x.event?x.event(t):t)}}}var Xe=tt(!1),Ze=tt(!0);function Z(e,t,s,r,i,o,a,f,u,p){let c,b=t.type;if(t.constructor!==void 0)return null;s._flags&128&&(u=!!(s._flags&32),f=t._dom=s._dom,o=[f]),(c=x._diff)&&c(t);e:
if(typeof b=="function"){let d=a.length;try{let l,h,k,g,y,_,T=t.props,N=b.prototype&&b.prototype.render;c=b.contextType;let le=c&&r[c._id],Y=c?le?le.props.value:
c._defaultValue:r;if(s._component?(l=t._component=s._component,_=l._processingException=l._pendingError):(N?t._component=l=new b(T,Y):(t._component=l=new X(T,Y),
l.constructor=b,l.render=zt),le&&le.sub(l),l.state||(l.state={}),l._globalContext=r,h=l._dirty=!0,l._renderCallbacks=[],l._stateCallbacks=[]),N&&l._nextState==null&&
(l._nextState=l.state),N&&b.getDerivedStateFromProps!=null&&(l._nextState==l.state&&(l._nextState=U({},l._nextState)),U(l._nextState,b.getDerivedStateFromProps(
T,l._nextState))),k=l.props,g=l.state,l._vnode=t,h)N&&b.getDerivedStateFromProps==null&&l.componentWillMount!=null&&l.componentWillMount(),N&&l.componentDidMount!=
null&&l._renderCallbacks.push(l.componentDidMount);else{if(N&&b.getDerivedStateFromProps==null&&T!==k&&l.componentWillReceiveProps!=null&&l.componentWillReceiveProps(
T,Y),t._original==s._original||!l._force&&l.shouldComponentUpdate!=null&&l.shouldComponentUpdate(T,l._nextState,Y)===!1){t._original!=s._original&&(l.props=T,l.
state=l._nextState,l._dirty=!1),t._dom=s._dom,t._children=s._children,t._children.some(We=>{We&&(We._parent=t)}),D.push.apply(l._renderCallbacks,l._stateCallbacks),
l._stateCallbacks=[],l._renderCallbacks.length&&a.push(l),f=j(s);break e}l.componentWillUpdate!=null&&l.componentWillUpdate(T,l._nextState,Y),N&&l.componentDidUpdate!=
null&&l._renderCallbacks.push(()=>{l.componentDidUpdate(k,g,y)})}l.context=Y,l.props=T,l._parentDom=e,l._force=!1;let ce=x._render,Nt=0;if(N)l.state=l._nextState,
l._dirty=!1,ce&&ce(t),c=l.render(l.props,l.state,l.context),D.push.apply(l._renderCallbacks,l._stateCallbacks),l._stateCallbacks=[];else do l._dirty=!1,ce&&ce(t),
c=l.render(l.props,l.state,l.context),l.state=l._nextState;while(l._dirty&&++Nt<25);l.state=l._nextState,l.getChildContext!=null&&(r=U(U({},r),l.getChildContext())),
N&&!h&&l.getSnapshotBeforeUpdate!=null&&(y=l.getSnapshotBeforeUpdate(k,g));let Ae=c!=null&&c.type===v&&c.key==null?st(c.props.children):c;f=Ue(e,G(Ae)?Ae:[Ae],t,
s,r,i,o,a,f,u,p),l.base=t._dom,t._flags&=-161,l._renderCallbacks.length&&a.push(l),_&&(l._pendingError=l._processingException=null)}catch(l){if(a.length=d,t._original=
null,u||o!=null){if(l.then){for(t._flags|=u?160:128;f&&f.nodeType==8&&f.nextSibling;)f=f.nextSibling;o!=null&&(o[o.indexOf(f)]=null),t._dom=f}else if(o!=null)for(let h=o.
length;h--;)ue(o[h])}else t._dom=s._dom;t._children==null&&(t._children=s._children||[]),l.then||nt(t),x._catchError(l,t,s)}}else o==null&&t._original==s._original?
(t._children=s._children,t._dom=s._dom):f=t._dom=Qt(s._dom,t,s,r,i,o,a,u,p);return(c=x.diffed)&&c(t),t._flags&128?void 0:f}function nt(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(nt))}function me(e,t,s){for(let r=0;r<s.length;r++)be(s[r],s[++r],s[++r]);x._commit&&x._commit(t,e),e.some(r=>{try{e=r.
_renderCallbacks,r._renderCallbacks=[],e.some(i=>{i.call(r)})}catch(i){x._catchError(i,r._vnode)}})}function st(e){return typeof e!="object"||e==null||e._depth>
0?e:G(e)?e.map(st):e.constructor!==void 0?null:U({},e)}function Qt(e,t,s,r,i,o,a,f,u){let p=s.props||H,c=t.props,b=t.type,d,l,h,k,g,y,_;if(b=="svg"?i=pe:b=="mat\
h"?i=qe:i||(i=Me),o!=null){for(d=0;d<o.length;d++)if(g=o[d],g&&"setAttribute"in g==!!b&&(b?g.localName==b:g.nodeType==3)){e=g,o[d]=null;break}}if(e==null){if(b==
null)return document.createTextNode(c);e=document.createElementNS(i,b,c.is&&c),f&&(x._hydrationMismatch&&x._hydrationMismatch(t,o),f=!1),o=null}if(b==null)p!==c&&
(!f||e.data!=c)&&(e.data=c);else{if(o=b=="textarea"&&c.defaultValue!=null?null:o&&K.call(e.childNodes),!f&&o!=null)for(p={},d=0;d<e.attributes.length;d++)g=e.attributes[d],
p[g.name]=g.value;for(d in p)g=p[d],d=="dangerouslySetInnerHTML"?h=g:d!="children"&&!(d in c)&&!(d=="value"&&"defaultValue"in c)&&!(d=="checked"&&"defaultChecke\
d"in c)&&se(e,d,null,g,i);for(d in c)g=c[d],d=="children"?k=g:d=="dangerouslySetInnerHTML"?l=g:d=="value"?y=g:d=="checked"?_=g:(!f||typeof g=="function")&&p[d]!==
g&&se(e,d,g,p[d],i);if(l)!f&&(!h||l.__html!=h.__html&&l.__html!=e.innerHTML)&&(e.innerHTML=l.__html),t._children=[];else if(h&&(e.innerHTML=""),Ue(t.type=="temp\
late"?e.content:e,G(k)?k:[k],t,s,r,b=="foreignObject"?Me:i,o,a,o?o[0]:s._children&&j(s,0),f,u),o!=null)for(d=o.length;d--;)ue(o[d]);(!f||b=="textarea")&&(d="val\
ue",b=="progress"&&y==null?e.removeAttribute("value"):y!=void 0&&(y!==e[d]||b=="progress"&&!y||b=="option"&&y!=p[d])&&se(e,d,y,p[d],i),d="checked",_!=void 0&&_!=
e[d]&&se(e,d,_,p[d],i))}return e}function be(e,t,s){try{if(typeof e=="function"){let r=typeof e._unmount=="function";r&&e._unmount(),(!r||t!=null)&&(e._unmount=
e(t))}else e.current=t}catch(r){x._catchError(r,s)}}function $e(e,t,s){let r;if(x.unmount&&x.unmount(e),(r=e.ref)&&(!r.current||r.current==e._dom)&&be(r,null,t),
(r=e._component)!=null){if(r.componentWillUnmount)try{r.componentWillUnmount()}catch(i){x._catchError(i,t)}r.base=r._parentDom=r._globalContext=null}if(r=e._children)
for(let i=0;i<r.length;i++)r[i]&&$e(r[i],t,s||typeof e.type!="function");s||ue(e._dom),e._component=e._parent=e._dom=void 0}function zt(e,t,s){return this.constructor(
e,s)}function Ne(e,t,s){t==document&&(t=document.documentElement),x._root&&x._root(e,t);let r=typeof s=="function",i=r?null:s&&s._children||t._children;e=(!r&&s||t).
_children=n(v,null,[e]);let o=[],a=[];Z(t,e,i||H,H,t.namespaceURI,!r&&s?[s]:i?null:t.firstChild?K.call(t.childNodes):null,o,!r&&s?s:i?i._dom:t.firstChild,r,a),me(
o,e,a),e.props.children=null}var re,C,je,he=0,ut=[],S=x,rt=S._diff,ot=S._render,it=S.diffed,at=S._commit,lt=S.unmount,ct=S._root,Yt=35,Oe;S._diff=e=>{C=null,rt&&rt(e)};S._root=(e,t)=>{e&&t.
_children&&t._children._mask&&(e._mask=t._children._mask),ct&&ct(e,t)};S._render=e=>{ot&&ot(e),C=e._component,re=0;let t=C.__hooks;t&&(je===C?(t._pendingEffects=
[],C._renderCallbacks=[],t._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(t._pendingEffects.some(xe),t._pendingEffects.
some(Be),t._pendingEffects=[],re=0)),je=C};S.diffed=e=>{it&&it(e);let t=e._component;t&&t.__hooks&&(t.__hooks._pendingEffects.length&&Zt(ut.push(t)),t.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),je=C=null};S._commit=(e,t)=>{t.some(s=>{try{s._renderCallbacks.some(xe),s._renderCallbacks=
s._renderCallbacks.filter(r=>r._value?Be(r):!0)}catch(r){t.some(i=>{i._renderCallbacks&&(i._renderCallbacks=[])}),t=[],S._catchError(r,s._vnode)}}),at&&at(e,t)};
S.unmount=e=>{lt&&lt(e);let t=e._component;if(t&&t.__hooks){let s;t.__hooks._list.some(r=>{try{xe(r)}catch(i){s=i}}),t.__hooks=void 0,s&&S._catchError(s,t._vnode)}};
function Ie(e,t){S._hook&&S._hook(C,e,he||t),he=0;let s=C.__hooks||(C.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function w(e){return he=1,Gt(mt,e)}function Gt(e,t,s){let r=Ie(re++,2);if(r._reducer=e,!r._component&&(r._value=[s?s(t):mt(void 0,t),i=>{let o=r._nextValue?r._nextValue[0]:
r._value[0],a=r._reducer(o,i);o!==a&&(r._nextValue=[a,r._value[1]],r._component.setState({}))}],r._component=C,!C._hasScuFromHooks)){let a=function(f,u,p){if(!r.
_component.__hooks)return!0;let c=!1,b=r._component.props!==f;if(r._component.__hooks._list.some(d=>{if(d._nextValue){c=!0;let l=d._value[0];d._value=d._nextValue,
d._nextValue=void 0,l!==d._value[0]&&(b=!0)}}),i){let d=i.call(this,f,u,p);return c?d||b:d}return!c||b};C._hasScuFromHooks=!0;let i=C.shouldComponentUpdate,o=C.
componentWillUpdate;C.componentWillUpdate=function(f,u,p){if(this._force){let c=i;i=void 0,a(f,u,p),i=c}o&&o.call(this,f,u,p)},C.shouldComponentUpdate=a}return r.
_nextValue||r._value}function O(e,t){let s=Ie(re++,3);!S._skipEffects&&ft(s._args,t)&&(s._value=e,s._pendingArgs=t,C.__hooks._pendingEffects.push(s))}function ye(e){return he=5,q(()=>({current:e}),[])}function q(e,t){let s=Ie(re++,7);return ft(s._args,t)&&(s._value=e(),s._args=t,s._factory=e),s._value}function Jt(){let e;for(;e=ut.shift();){let t=e.__hooks;if(!(!e._parentDom||!t))try{t._pendingEffects.some(xe),t._pendingEffects.some(Be),t._pendingEffects=[]}catch(s){
t._pendingEffects=[],S._catchError(s,e._vnode)}}}var pt=typeof requestAnimationFrame=="function";function Xt(e){let t=()=>{clearTimeout(s),pt&&cancelAnimationFrame(
r),setTimeout(e)},s=setTimeout(t,Yt),r;pt&&(r=requestAnimationFrame(t))}function Zt(e){(e===1||Oe!==S.requestAnimationFrame)&&(Oe=S.requestAnimationFrame,(Oe||Xt)(
Jt))}function xe(e){let t=C,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),C=t}function Be(e){let t=C;e._cleanup=e._value(),C=t}function ft(e,t){return!e||
e.length!==t.length||t.some((s,r)=>s!==e[r])}function mt(e,t){return typeof t=="function"?t(e):t}var dt="hns-token";function bt(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(dt,e),history.replaceState(null,"",location.
pathname+location.search))}var Q=class extends Error{constructor(s,r){super(r.title);this.status=s;this.problem=r}status;problem},Vt={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function gt(e,t){let s;try{s=await fetch(e,{signal:t,
headers:{"X-HNS-Token":sessionStorage.getItem(dt)??""},credentials:"omit",cache:"no-store"})}catch(i){throw t.aborted?i:new Q(0,Vt)}if(s.ok)return s;let r={title:`\
The server answers ${s.status}`};try{r=await s.json()}catch{}throw new Q(s.status,r)}function L(e,t){let[s,r]=w({path:e}),i=ye(0),[o,a]=w(0);return O(()=>{let f=new AbortController,
u=0;return gt(e,f.signal).then(p=>p.json()).then(p=>{i.current=0,r({path:e,data:p,at:new Date})},p=>{if(f.signal.aborted)return;let c=p instanceof Q?p:new Q(0,{
title:"The answer cannot be read",detail:String(p)});r(b=>b.path===e&&c.status!==404&&c.status!==403?{...b,error:c}:{path:e,error:c}),(c.status===0||c.status>=500)&&
(u=window.setTimeout(()=>a(b=>b+1),Math.min(30,2**++i.current)*1e3))}),()=>{f.abort(),clearTimeout(u)}},[e,t,o]),s.path===e?s:{}}function _t(){let[e,t]=w("conne\
cting"),[s,r]=w(0);return O(()=>{let i,o=0,a=0,f=!1,u=()=>{f||document.hidden||(o=window.setTimeout(p,Math.min(15,2**a++)*1e3))},p=async()=>{clearTimeout(o);let b=i=
new AbortController,d=0,l=()=>{clearTimeout(d),d=window.setTimeout(()=>b.abort(),25e3)};try{l();let h=(await gt("/api/changes",b.signal)).body.pipeThrough(new TextDecoderStream).
getReader();for(let k=await h.read();!k.done;k=await h.read())l(),a=0,t("live"),k.value.includes("changed")&&r(g=>g+1)}catch(h){h instanceof Q&&h.status===401&&
(f=!0)}clearTimeout(d),!(i!==b||f)&&(document.hidden||t("lost"),u())},c=()=>{clearTimeout(o),i?.abort(),i=void 0,document.hidden||(a=0,r(b=>b+1),p())};return document.
addEventListener("visibilitychange",c),document.hidden||p(),()=>{f=!0,clearTimeout(o),i?.abort(),document.removeEventListener("visibilitychange",c)}},[]),[e,s]}function yt(e){let t=new Map;for(let o of e)t.set(o.name,{member:o,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let o of t.values()){let a=o.
member.parent?t.get(o.member.parent):void 0;o.parentMissing=!!o.member.parent&&!a,a?a.children.push(o):s.push(o)}let r=new Set,i=o=>{let a=[o];r.add(o);for(let f=0;f<
a.length;f++){a[f].children=a[f].children.filter(u=>!r.has(u));for(let u of a[f].children)r.add(u),a.push(u)}for(let f=a.length-1;f>=0;f--){let u=a[f];u.problems=
u.member.problems?.length??0;for(let p of u.children)u.problems+=p.problems,u.descendants+=p.descendants+1;ht(u.children)}};s.forEach(i);for(let o of t.values())
r.has(o)||(s.push(o),i(o));return ht(s)}function ht(e){return e.sort((t,s)=>+(s.problems>0)-+(t.problems>0)||(t.member.name<s.member.name?-1:1))}function en(e,t){
if(t.problems&&!e.problems?.length)return!1;let s=t.text.trim().toLowerCase(),r=s.indexOf("=");return r>0?e.labels?.[t.text.trim().slice(0,r)]?.toLowerCase()===
s.slice(r+1):e.name.includes(s)}function V(e){return e.problems||e.text.trim()!==""}function xt(e,t,s){let r=V(t),i=new Set;if(r){let p=[];for(let c of e)p.push(
{node:c,above:[]});for(let c=p.pop();c;c=p.pop()){if(en(c.node.member,t)){i.add(c.node);for(let d of c.above)i.add(d)}let b=c.node.children.length?[...c.above,c.
node]:c.above;for(let d of c.node.children)p.push({node:d,above:b})}}let o=p=>r?p.filter(c=>i.has(c)):p,a=[],f=[],u=(p,c,b)=>{for(let d=p.length-1;d>=0;d--)f.push(
{node:p[d],depth:c,parent:b,expanded:!1,position:d+1,siblings:p.length})};u(o(e),0,-1);for(let p=f.pop();p;p=f.pop()){let c=o(p.node.children);p.expanded=c.length>
0&&(r||s(p.node)),a.push(p),p.expanded&&u(c,p.depth+1,a.length-1)}return a}function z(e){let t=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();return t.charAt(
0).toUpperCase()+t.slice(1)}function ve(e,t=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((t-Date.parse(e))/1e3));return s<120?s+"s":s<3*3600?Math.floor(
s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function A(e,t,s=t+"s"){return`${e.toLocaleString(
"en")} ${e===1?t:s}`}var vt=e=>Math.round(e*100)+"%";function tn(e){let t=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","G","T","P","E"].indexOf(e);return t>=
0?1024**(t+1):s>=0?1e3**(s+1):e==="m"?.001:1}function oe(e,t){let s=/[a-zA-Z]*$/.exec(t)[0];return+(e/tn(s)).toFixed(3)+s}function kt(e,t,s){let r={name:e.namespace,
own:0,sum:0,children:[]},i=new Map([[r.name,r]]);for(let{namespace:a,used:f}of e.namespaces){if(!f[t])continue;let u=i.get(a),p=[];for(let l=a;l&&!i.has(l)&&!p.
includes(l);l=s.get(l))p.push(l);let c=p.length&&s.get(p[p.length-1]),b=c&&i.get(c)||r,d=c&&i.has(c)?p:p.slice(0,1);for(let l of d.reverse())u={name:l,own:0,sum:0,
children:[]},b.children.push(u),i.set(l,u),b=u;u.own=f[t]}let o=a=>(a.sum=a.own+a.children.reduce((f,u)=>f+o(u),0),a.children.sort((f,u)=>u.sum-f.sum||(f.name<u.
name?-1:1)),a.sum);return o(r),r}function wt(e){let t=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(t).join(",")+`\r
`).join("")}function ke(e){return e.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g,
t=>`⟨U+${t.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function ie(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function E({to:e,children:t,...s}){return n("a",{href:e,onClick:i=>{
i.button||i.ctrlKey||i.metaKey||i.shiftKey||i.altKey||(i.preventDefault(),ie(e))},...s},t)}var nn=x.vnode;x.vnode=e=>{e.type===null&&typeof e.props=="string"?e.
props=ke(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=ke(e.props.title)),nn?.(e)};function F(e){O(()=>{document.title=ke(e)+" · hns"},[e])}function we(){
let e=t=>{let s=new URLSearchParams(t).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function Et(e,t,s){let r=document.createElement("a");r.href=URL.createObjectURL(new Blob([s],{type:t})),r.download=e,r.click(),
setTimeout(()=>URL.revokeObjectURL(r.href),1e4)}function B({list:e}){return n(v,null,e?.map(t=>n("p",{class:"stale",key:t},t.charAt(0).toUpperCase()+t.slice(1))))}
var M=e=>"/ns/"+e,ae=(e,t,s)=>`/ns/${e}/${t}/${encodeURIComponent(s)}`;function P({command:e}){let[t,s]=w(!1);return n("button",{class:"copy",onClick:()=>navigator.
clipboard.writeText(e).then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},n("code",null,e),n("span",{"aria-live":"polite"},
t?"Copied":"Copy"))}function Ee({problem:e}){return n("section",{class:"box bad",role:"alert"},n("h2",null,e.title),e.missingPermission&&n("p",null,"Missing per\
mission: ",n("code",null,e.missingPermission)),e.detail&&n("p",{class:"message"},e.detail),e.hint&&n("p",null,e.hint))}function R({from:e,children:t}){let[s,r]=w(
!1);return O(()=>{let i=setTimeout(()=>r(!0),200);return()=>clearTimeout(i)},[]),e.data?n(v,null,e.error&&n("p",{class:"stale",role:"status"},n("b",null,e.error.
problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint),t(e.data)):e.error?n(Ee,{problem:e.error.problem}):n("p",{class:"\
dim",role:"status"},s?"Reading from the cluster …":"")}function ee({list:e}){return n("ul",{class:"conditions"},e.map(t=>n("li",{key:t.type+t.reason},n("span",
{class:"tag bad"},t.status==="False"&&"Not ",t.status==="False"?z(t.type).toLowerCase():z(t.type))," ",n("b",null,z(t.reason))," ",n("span",{class:"message"},t.
message))))}function St({name:e,version:t}){let s=L("/api/namespaces/"+e,t);return F(e),n("main",null,!s.data&&n(Ce,{name:e,page:""}),n(R,{from:s},r=>n(rn,{ns:r,version:t})))}
var sn=[["","Overview"],["access","Access"]],Ct=new Map;function Ce({name:e,page:t,path:s,abstract:r,children:i}){return s&&Ct.set(e,s),s=Ct.get(e)??[e],n(v,null,
n(He,{names:s,abstract:r}),n("div",{class:"head"},n("h1",null,e),i),n("nav",{class:"tabs","aria-label":"Pages of "+e},sn.map(([o,a])=>n(E,{key:o,to:M(e)+(o&&"/"+
o),"aria-current":o===t?"page":void 0},a))))}function He({names:e,abstract:t=[]}){return n("nav",{"aria-label":"Path to the root",class:"path"},n("ol",null,n("l\
i",null,n(E,{to:"/"},"Forest")),[...t].reverse().map(s=>n("li",{key:"a "+s,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},s)),e.map((s,r)=>n(
"li",{key:s},r===e.length-1?n("b",{"aria-current":"page"},s):n(E,{to:M(s)},s)))))}function rn({ns:e,version:t}){let s=[e.kind==="full"?"full namespace":e.kind,e.
path.length>1?`level ${e.path.length}`:"root",e.created&&`${ve(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&
e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return n(v,null,n(Ce,{name:e.name,page:"",path:e.path,abstract:e.
abstractAncestors},n("p",{class:"summary"},e.deleting&&n(v,null,n("b",{class:"bad"},"being deleted")," · "),s.join(" · ")),n(P,{command:"kubectl hns describe "+
e.name})),e.excluded&&n("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),n(B,{list:e.notes}),!!e.problems?.length&&n(
"section",{class:"box bad"},n("h2",null,A(e.problems.length,"problem")),n(ee,{list:e.problems})),n("div",{class:"columns"},n("section",{"aria-labelledby":"polic\
y"},n("h2",{id:"policy"},"Policy"),e.resources.map(r=>n(on,{key:r,namespace:e.name,resource:r,version:t}))),n("div",null,n(an,{ns:e}),n(ln,{ns:e}))))}function on({
namespace:e,resource:t,version:s}){let r=L(`/api/namespaces/${e}/objects/${t}`,s),[i,...o]=t.split("."),a=r.data?.items??[],f=a.filter(u=>u.state!=="Absent").length;
return n("section",{class:"kind","aria-label":t},n("h3",null,n("span",null,i),o.length>0&&n("small",{class:"dim"},o.join(".")),n("span",{class:"grow"}),r.data&&
n("small",{class:"dim"},f?A(f,"object"):"none"),r.data?.mode&&n("span",{class:"tag"},r.data.mode)),r.error&&!r.data&&n("p",{class:"note"},r.error.problem.missingPermission?
n(v,null,"Missing permission: ",n("code",null,r.error.problem.missingPermission)):r.error.problem.detail),r.data?.notes?.map(u=>n("p",{class:"note",key:u},u)),a.
length>0&&n("table",null,n("thead",{class:"hidden"},n("tr",null,n("th",null,"Name"),n("th",null,"Where it comes from"))),n("tbody",null,a.map(u=>n("tr",{key:u.name,
class:u.state},n("td",null,n(E,{to:ae(e,t,u.name)},u.name)),n("td",null,u.state==="Copy"?n(v,null,"copied from ",n(E,{to:M(u.source)},u.source)):u.state==="Loca\
l"?n(v,null,"made here ",u.override&&n("span",{class:"tag"},"override")):n(v,null,n("span",{class:"tag"},"not here")," is in ",n(E,{to:M(u.source)},u.source)," \
· ",n(E,{to:ae(e,t,u.name)},"why not here?"))))))))}function an({ns:e}){return n("section",{class:"box","aria-labelledby":"children"},n("h2",{id:"children"},"C\
hildren ",n("small",{class:"dim"},e.children.length||"")),e.children.length?n("ul",{class:"plain"},e.children.map(t=>n("li",{key:t.name},n(E,{to:M(t.name)},t.name),
" ",n("span",{class:"dim"},t.subnamespace?"sub-namespace":""),t.state&&t.state!=="Ok"&&n("span",{class:"tag bad"},t.state)))):n("p",{class:"dim"},"None."))}function ln({
ns:e}){let t=e.labelsFrom.filter(i=>!i.tree),s=e.labelsFrom.filter(i=>i.tree),r=i=>n("li",{key:i.key},n("code",null,i.key,"=",i.value),i.from&&n("span",{class:"\
dim"}," set by the hierarchy ",i.from===e.name?"here":n(v,null,"in ",n(E,{to:M(i.from)},i.from))));return n("section",{class:"box","aria-labelledby":"labels"},n(
"h2",{id:"labels"},"Labels"),t.length?n("ul",{class:"plain"},t.map(r)):n("p",{class:"dim"},"None of its own."),s.length>0&&n("details",null,n("summary",null,s.length,
" set by its place in the tree"),n("ul",{class:"plain"},s.map(r))))}var cn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],pn=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function Lt({name:e,version:t}){let[s,r]=we(),i=s.get("verb")??"",o=s.get("resource")??"",a=i!==""&&o!=="",f=L(`/api/namespaces/${e}/access`+(a?"?"+
new URLSearchParams({verb:i,resource:o}):""),t);return F(`Access to ${e}`),n("main",null,n(Ce,{name:e,page:"access"}),n("form",{class:"tools ask",onSubmit:p=>{p.
preventDefault();let c=new FormData(p.target);r({verb:String(c.get("verb")).trim(),resource:String(c.get("resource")).trim()})},key:i+" "+o,"data-page":"access"},
n("label",null,"Who can ",n("input",{name:"verb",list:"verbs",value:i,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-label":"Ve\
rb"})),n("input",{name:"resource",list:"resources",value:o,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"Resource"}),n("\
label",null,"in ",e,"?"),n("datalist",{id:"verbs"},cn.map(p=>n("option",{key:p,value:p}))),n("datalist",{id:"resources"},pn.map(p=>n("option",{key:p,value:p}))),
n("button",{class:"primary"},"Show"),a&&n("button",{type:"button",onClick:()=>r({})},"Show all grants"),n("span",{class:"grow"}),n(P,{command:`kubectl hns who ${e}`+
(a?` ${i} ${o}`:"")})),n(R,{from:f},p=>n(un,{name:e,access:p,permission:a?`${i} ${o}`:""})))}var Se=e=>e.subject.namespace?`${e.subject.namespace}/${e.subject.name}`:
e.subject.name;function un({name:e,access:t,permission:s}){let[r,i]=w(""),o=t.grants??[],a=o.filter(l=>(Se(l)+" "+l.role).toLowerCase().includes(r.trim().toLowerCase())),
f=a.filter(l=>!l.unknown),u=f.filter(l=>l.at),p=f.filter(l=>!l.at),c=a.filter(l=>l.unknown),b=new Set(o.filter(l=>!l.unknown).map(l=>l.subject.kind+" "+Se(l))).
size,d=()=>Et(`access-${e}.csv`,"text/csv",wt([["kind","subject","role","binding","set in","only","known"],...a.map(l=>[l.subject.kind,Se(l),l.role,l.binding,l.
at??"(cluster)",(l.names??[]).join(" "),l.unknown?"no":"yes"])]));return n("div",null,n("div",{class:"tools"},n("b",{role:"status"},s?`${A(b,"subject")} can ${s}\
 in ${e}`:`${A(b,"subject")} with roles in ${e}`),n("span",{class:"grow"}),n("input",{type:"search",placeholder:"Subject or role","aria-label":"Filter by subjec\
t or role",value:r,onInput:l=>i(l.target.value)}),n("button",{onClick:d,disabled:!a.length},"CSV")),n(B,{list:t.notes}),n(De,{title:"By bindings in the namespac\
e and its ancestors",name:e,grants:u,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),n(De,{title:"In the whole cluster",name:e,grants:p,
open:u.length===0&&s!==""}),n(De,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:c,open:!0}),n("p",{class:"dim"},"As RBAC\
 grants it. Members of the group system:masters may do everything."))}function De({title:e,name:t,grants:s,open:r,empty:i}){return!s.length&&!i?null:n("details",
{class:"box fold",open:r},n("summary",null,n("h2",null,e," ",n("small",{class:"dim"},s.length))),s.length?n("table",{class:"list"},n("thead",null,n("tr",null,n(
"th",null,"Subject"),n("th",null,"Role"),n("th",null,"Binding"),n("th",null,"Set in"))),n("tbody",null,s.map((o,a)=>n("tr",{key:a},n("td",null,n("span",{class:"\
dim"},o.subject.kind)," ",n("b",null,Se(o))),n("td",{"data-label":"Role"},o.role,o.names&&n("span",{class:"dim"}," only ",o.names.join(", "))),n("td",{"data-lab\
el":"Binding"},o.binding.startsWith("RoleBinding/")?n(E,{to:ae(t,"rolebindings.rbac.authorization.k8s.io",o.binding.slice(12))},o.binding):o.binding),n("td",{"d\
ata-label":"Set in"},o.at?o.at===t?"here":n(E,{to:M(o.at)},o.at):"the cluster"))))):n("p",{class:"dim"},i))}var fn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function At({version:e}){let t=L("/api/administration",e),[s,r]=w(0),i=L("/api/checks",s);return F("Kinds and servers"),n("main",null,
n("div",{class:"head"},n("h1",null,"Kinds and servers")),n(R,{from:t},o=>n(mn,{a:o})),n("section",{class:"box","aria-labelledby":"checks"},n("div",{class:"head"},
n("h2",{id:"checks"},"Installation"),n("span",{class:"grow"}),n("button",{onClick:()=>r(o=>o+1)},"Check again"),n(P,{command:"kubectl hns doctor"})),n(R,{from:i},
o=>n(dn,{list:o}))))}function mn({a:e}){return n(v,null,n(B,{list:e.notes}),!!e.problems?.length&&n("section",{class:"box bad"},n("h2",null,A(e.problems.length,
"problem")),n(ee,{list:e.problems})),n("section",{class:"box","aria-labelledby":"kinds"},n("div",{class:"head"},n("h2",{id:"kinds"},"Kinds"),n("span",{class:"gr\
ow"}),n(P,{command:"kubectl hns config describe"})),n("table",{class:"list"},n("thead",null,n("tr",null,n("th",null,"Kind"),n("th",null,"Mode"),n("th",{class:"n\
um"},"Sources"),n("th",{class:"num"},"Copies"))),n("tbody",null,e.kinds.map(t=>n("tr",{key:t.group+t.resource},n("td",null,t.resource," ",n("span",{class:"dim"},
t.group?`${t.group}/${t.version}`:t.version)),n("td",null,t.mode," ",n("span",{class:"dim"},fn[t.mode??""]??"")),n("td",{class:"num","data-label":"Sources"},t.numSourceObjects??
""),n("td",{class:"num","data-label":"Copies"},t.numPropagatedObjects??""))))),!e.kinds.length&&n("p",{class:"dim"},"hnc-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&n("details",null,n("summary",null,"Rules in force"),n("dl",{class:"rules"},Object.entries(e.rules).map(([t,s])=>n(v,null,
n("dt",{key:t},t),n("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&n("section",{class:"bo\
x","aria-labelledby":"repositories"},n("div",{class:"head"},n("h2",{id:"repositories"},"Repositories"),n("span",{class:"grow"}),n(P,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(t=>n("div",{key:t.name,class:"repository"},n("b",null,t.name)," ",n("span",{class:"tag "+(t.synced==="True"?"":"bad")},t.synced==="\
True"?"synced":t.reason)," ",n("span",{class:"dim"},A(t.objects,"object"),t.applied&&n(v,null," · applied ",n("code",{title:t.applied},t.applied.slice(0,12))),
t.seen&&t.seen!==t.applied&&n(v,null," · read ",n("code",{title:t.seen},t.seen.slice(0,12)))),t.synced!=="True"&&n("p",{class:"message"},t.message),t.errors&&n(
"ul",null,t.errors.map(s=>n("li",{key:s,class:"message"},s)))))))}var Tt=["error","warning","unknown","ok"];function dn({list:e}){let t=[...e].sort((o,a)=>Tt.indexOf(
o.severity)-Tt.indexOf(a.severity)),s=t.filter(o=>o.severity!=="ok"),r=t.filter(o=>o.severity==="ok"),i=o=>n("ul",{class:"plain checks"},o.map((a,f)=>n("li",{key:f,
class:a.severity},n("span",{class:"tag "+(a.severity==="ok"?"":a.severity==="unknown"?"warn":"bad")},a.severity),n("span",null,n("b",null,a.subject)," ",a.text,
a.hint&&n("p",{class:"hint"},a.hint)))));return n(v,null,s.length?i(s):n("p",{class:"good"},"All ",r.length," checks are well."),r.length>0&&n("details",null,n(
"summary",null,A(r.length,"check")," without findings"),i(r)))}function Mt({version:e}){let t=L("/api/quotas",e),s=L("/api/forest",e);return F("Quotas"),n("main",null,n(R,{from:t},r=>n(bn,{data:r,forest:s.data})))}var Le=e=>e>=
1?"full":e>=.8?"high":"";function Te({limit:e,parts:t}){let s=r=>e.value>0?Math.min(100,r/e.value*100)+"%":"0%";return n("span",{class:"bar "+Le(e.share),role:"\
meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},
(t??[{name:"",value:e.share*e.value}]).map((r,i)=>n("i",{key:r.name,class:i%2?"odd":"",style:{width:s(r.value)},title:r.name&&`${r.name}: ${oe(r.value,e.hard)}`})))}
function bn({data:e,forest:t}){let[s,r]=we(),i=s.get("resource")??"",o=q(()=>new Map(t?.namespaces.map(c=>[c.name,c.parent])),[t]),a=[...new Set(e.quotas.flatMap(
c=>c.limits.map(b=>b.resource)))].sort(),f=c=>Math.max(0,...c.limits.filter(b=>!i||b.resource===i).map(b=>b.share)),u=e.quotas.filter(c=>!i||c.limits.some(b=>b.
resource===i)).sort((c,b)=>+!!b.problems-+!!c.problems||f(b)-f(c)),p=e.quotas.filter(c=>c.limits.some(b=>b.share>=1)).length;return n(v,null,n("div",{class:"hea\
d"},n("h1",null,"Quotas"),n("p",{class:"summary"},A(e.quotas.length,"quota"),", the fullest first",p>0&&n(v,null," · ",n("b",{class:"bad"},p," full"))),n(P,{command:"\
kubectl hns hrq -A --tree"})),n(B,{list:e.notes}),a.length>1&&n("div",{class:"tools"},n("label",null,"Resource ",n("select",{value:i,onChange:c=>r(c.target.value?
{resource:c.target.value}:{})},n("option",{value:""},"all"),a.map(c=>n("option",{key:c,value:c},c))))),u.length?u.map(c=>n(gn,{key:c.namespace+"/"+c.name,quota:c,
parents:o,only:i})):n("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may see","."))}function gn({quota:e,
parents:t,only:s}){let[r,i]=w(""),o=e.limits.filter(a=>!s||a.resource===s);return n("section",{class:"box","aria-label":`Quota ${e.name} of ${e.namespace}`,"dat\
a-quota":e.namespace+"/"+e.name},n("h2",null,n(E,{to:M(e.namespace)},e.namespace)," ",n("span",{class:"dim"},"/")," ",e.name," ",e.scoped&&n("span",{class:"tag"},
"scoped")),e.problems&&n(ee,{list:e.problems}),o.map((a,f)=>{let u=kt(e,a.resource,t),p=r===a.resource;return n("div",{class:"limit",key:a.resource},n("button",
{class:"twist","aria-expanded":p,"aria-label":`Use of ${a.resource} by namespace`,disabled:!u.children.length&&!u.own,onClick:()=>i(p?"":a.resource)},p?"▾":"▸"),
n("span",{class:"what"},a.resource,f===0&&e.limits.length>1&&!s&&a.share>0&&n("span",{class:"tag"},"binds first")),n(Te,{limit:a,parts:e.omitted?void 0:[...u.own?
[{name:e.namespace,value:u.own}]:[],...u.children.map(c=>({name:c.name,value:c.sum}))]}),n("span",{class:"num "+Le(a.share)},a.used," of ",a.hard," ",n("span",{
class:"dim"},vt(a.share))),p&&n("ul",{class:"use"},n(Pt,{use:u,limit:a})))}),o.length===0&&n("p",{class:"dim"},"It limits nothing."),!!e.omitted&&n("p",{class:"\
note"},A(e.omitted,"namespace")," more use it than are listed."))}function Pt({use:e,limit:t}){let s={...t,used:oe(e.sum,t.hard),share:t.value>0?e.sum/t.value:1};
return n("li",null,n("div",{class:"branch"},n(E,{to:M(e.name)},e.name),n("span",{class:"num"},oe(e.sum,t.hard),e.children.length>0&&n("span",{class:"dim"}," (",
oe(e.own,t.hard)," itself)")),n(Te,{limit:s})),e.children.length>0&&n("ul",null,e.children.map(r=>n(Pt,{key:r.name,use:r,limit:t}))))}var I=30,_n=200,Ke=new Map,Rt={text:"",problems:!1},Ut="";function $t({version:e}){let t=L("/api/forest",e);F("Forest");let s=L("/api/quotas",e);return n("main",
{class:"forest"},n(R,{from:t},r=>n(yn,{forest:r,quotas:s.data})))}function hn(e,t){let s=new Map;for(let r of e.quotas)for(let i of r.limits)(!t||i.resource===t)&&
!(s.get(r.namespace)?.share>=i.share)&&s.set(r.namespace,i);return s}function yn({forest:e,quotas:t}){let[s,r]=w(Ut),i=_=>{Ut=_,r(_)},o=q(()=>[...new Set(t?.quotas.
flatMap(_=>_.limits.map(T=>T.resource)))].sort(),[t]),a=q(()=>t?.quotas.length?hn(t,s):void 0,[t,s]),f=q(()=>yt(e.namespaces),[e]),[u,p]=w(Rt),c=_=>{Rt=_,p(_)},
[,b]=w(0),d=e.namespaces.length<=_n,h=xt(f,u,_=>Ke.get(_.member.name)??(d||_.problems>(_.member.problems?.length??0))),k=e.namespaces.filter(_=>_.problems?.length),
g=(_,T)=>{Ke.set(_.member.name,T),b(N=>N+1)},y=_=>{for(let T of e.namespaces)Ke.set(T.name,_);b(T=>T+1)};return n("div",null,n("div",{class:"head"},n("h1",null,
"Forest"),n("p",{class:"summary"},A(e.namespaces.length,"namespace")," in ",A(f.length,"tree")," · ",k.length?n("b",{class:"bad"},A(k.length,"namespace")," wit\
h problems"):n("span",{class:"good"},"no problems")),n(P,{command:"kubectl hns tree -A"})),e.partial&&n("p",{class:"stale"},e.partial),n("div",{class:"tools"},n(
"input",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:u.text,onInput:_=>c({...u,text:_.
target.value}),spellcheck:!1,autocomplete:"off"}),n("label",{class:"check"},n("input",{type:"checkbox",checked:u.problems,onChange:_=>c({...u,problems:_.target.
checked})})," With problems"),n("span",{class:"grow"}),o.length>0&&n("label",null,"Quota of ",n("select",{value:s,onChange:_=>i(_.target.value)},n("option",{value:""},
"the fullest"),o.map(_=>n("option",{key:_,value:_},_)))),n("button",{onClick:()=>y(!0),disabled:V(u)},"Expand all"),n("button",{onClick:()=>y(!1),disabled:V(u)},
"Collapse all")),h.length?n(xn,{list:h,toggle:g,fixed:V(u),limits:a}):n("p",{class:"dim box",role:"status"},V(u)?"No namespace matches the filter.":"There are n\
o namespaces that you may see."))}function xn({list:e,toggle:t,fixed:s,limits:r}){let i=ye(null),[o,a]=w({top:0,height:800}),[f,u]=w(""),p=Math.max(0,e.findIndex(
g=>g.node.member.name===f)),c=()=>{let g=i.current;g&&a({top:g.scrollTop,height:g.clientHeight})};O(()=>(c(),addEventListener("resize",c),()=>removeEventListener(
"resize",c)),[e.length]);let b=g=>{g=Math.max(0,Math.min(e.length-1,g)),u(e[g].node.member.name);let y=i.current;g*I<y.scrollTop&&(y.scrollTop=g*I),(g+1)*I>y.scrollTop+
y.clientHeight&&(y.scrollTop=(g+1)*I-y.clientHeight)},d=g=>{let y=e[p],_=Math.max(1,Math.floor(o.height/I)-1);if(!(g.ctrlKey||g.metaKey||g.altKey)){switch(g.key){case"\
ArrowDown":b(p+1);break;case"ArrowUp":b(p-1);break;case"PageDown":b(p+_);break;case"PageUp":b(p-_);break;case"Home":b(0);break;case"End":b(e.length-1);break;case"\
ArrowRight":y.expanded?b(p+1):y.node.children.length&&!s&&t(y.node,!0);break;case"ArrowLeft":y.expanded&&!s?t(y.node,!1):y.parent>=0&&b(y.parent);break;case"Ent\
er":ie(M(y.node.member.name));break;default:return}g.preventDefault()}},l=Math.max(0,Math.floor(o.top/I)-10),h=Math.min(e.length,Math.ceil((o.top+o.height)/I)+10),
k=e.slice(l,h);return n("div",{class:"grid"+(r?" limited":""),role:"treegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,
onKeyDown:d,"aria-activedescendant":p>=l&&p<h?"row-"+e[p].node.member.name:void 0},n("div",{class:"row header",role:"row","aria-rowindex":1},n("span",{role:"col\
umnheader"},"Namespace"),n("span",{role:"columnheader"},"Problems"),r&&n("span",{role:"columnheader",class:"wide"},"Quota"),n("span",{role:"columnheader",class:"\
wide"},"Kind"),n("span",{role:"columnheader",class:"num wide",title:"Namespaces below"},"Below"),n("span",{role:"columnheader",class:"num"},"Age")),n("div",{class:"\
rows",role:"rowgroup",ref:i,onScroll:c,tabIndex:-1},n("div",{role:"presentation",style:{height:e.length*I+"px",position:"relative"}},k.map((g,y)=>n(vn,{key:g.node.
member.name,row:g,index:l+y,active:l+y===p,fixed:s,choose:()=>u(g.node.member.name),toggle:t,limits:r})))))}function vn({row:e,index:t,active:s,fixed:r,choose:i,
toggle:o,limits:a}){let{node:f,depth:u,expanded:p}=e,{member:c,children:b}=f,d=c.problems?.length??0,l=f.problems-d,h=a?.get(c.name);return n("div",{id:"row-"+c.
name,role:"row",class:"row"+(s?" active":"")+(d?" troubled":""),"aria-level":u+1,"aria-rowindex":t+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-\
expanded":b.length?p:void 0,style:{top:t*I+"px","--depth":u},onMouseDown:i},n("span",{role:"gridcell",class:"name"},b.length?n("button",{class:"twist",tabIndex:-1,
"aria-hidden":"true",disabled:r,onClick:()=>o(f,!p)},p?"▾":"▸"):n("span",{class:"twist"}),n(E,{to:M(c.name),tabIndex:-1,title:c.name},c.name),c.deleting&&n(
"span",{class:"tag"},"deleting")),n("span",{role:"gridcell",class:"what"},d?n("span",{class:"problem",title:c.problems.map(k=>`${z(k.type)}: ${k.message}`).join(
`
`)},n("b",null,z(c.problems[0].reason))," ",n("span",{class:"wide"},c.problems[0].message),d>1&&` +${d-1}`):l&&!p?n("span",{class:"problem below"},l," below"):null),
a&&n("span",{role:"gridcell",class:"quota wide"},h&&n(E,{to:"/quotas",tabIndex:-1,title:`${h.resource}: ${h.used} of ${h.hard}`},n(Te,{limit:h})," ",n("span",{class:Le(
h.share)},h.used,"/",h.hard)," ",n("span",{class:"dim"},h.resource))),n("span",{role:"gridcell",class:"dim wide"},c.kind==="full"?"":c.kind),n("span",{role:"gri\
dcell",class:"num dim wide"},f.descendants||""),n("span",{role:"gridcell",class:"num dim"},ve(c.created)))}function Ft({namespace:e,resource:t,name:s,version:r}){let i=L(`/api/namespaces/${e}/objects/${t}/${encodeURIComponent(s)}`,r);return F(`${s} in ${e}`),n("main",
null,n(He,{names:[e,s]}),n("div",{class:"head"},n("h1",null,s),n("p",{class:"summary"},t," in ",e),n(P,{command:`kubectl hns explain ${t} ${s} -n ${e}`})),n(R,{
from:i},o=>n(kn,{a:o})))}function kn({a:e}){let t={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not \
in ${e.namespace}.`}[e.state];return n("div",{class:"story"},n("section",{class:"box"},n("h2",null,t),n("ul",null,e.because.map(s=>n("li",{key:s,class:"message"},
s)))),n("section",{"aria-labelledby":"way"},n("h2",{id:"way"},e.state==="Copy"?"The way of the copy":"The path from the root"),n("ol",{class:"way"},[...e.path].
reverse().map(s=>n("li",{key:s,class:s===e.source?"source":s===e.namespace?"here "+e.state:""},n(E,{to:M(s)},s)," ",n("span",{class:"dim"},s===e.source?"the sou\
rce":s===e.namespace?{Copy:"the copy",Local:"made here",Absent:"not here"}[e.state]:""))))))}var wn={connecting:"Connecting",live:"Live",lost:"Not connected"},En=[["/","Forest"],["/quotas","Quotas"],["/admin","Kinds and servers"]],Cn=15e3;function Sn(){
let[e,t]=w(location.pathname),[,s]=w(location.search),[r,i]=w(0),[o,a]=_t(),f=L("/api/session",0);O(()=>{let p=()=>{t(location.pathname),s(location.search)},c=setInterval(
()=>document.hidden||i(d=>d+1),Cn),b=d=>{d.key!=="/"||d.ctrlKey||d.metaKey||d.altKey||d.target.matches("input, textarea, select")||(d.preventDefault(),location.
pathname!=="/"&&ie("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",p),addEventListener("keydown",b),()=>{clearInterval(
c),removeEventListener("popstate",p),removeEventListener("keydown",b)}},[]);let u=f.data;return n(v,null,n("header",null,n(E,{to:"/",class:"brand"},n("img",{src:"\
/icon.svg",alt:"",width:"22",height:"22"}),n("b",null,"hns")),n("nav",{class:"pages","aria-label":"Pages"},En.map(([p,c])=>n(E,{key:p,to:p,"aria-current":e===p?
"page":void 0},c))),n("span",{class:"context"},u&&n(v,null,n("b",{title:"Cluster "+u.cluster},u.context||"no context"),n("span",{class:"dim"}," ",u.user))),n("s\
pan",{class:"grow"}),n("span",{class:"dim wide"},"read-only"),n("span",{class:"state "+o,role:"status"},wn[o])),f.error?.status===401?n("main",null,n(Ee,{problem:f.
error.problem})):n(Ln,{key:e,path:e,version:a,tick:a+r}))}function Ln({path:e,version:t,tick:s}){let r=e.split("/").slice(1).map(i=>{try{return decodeURIComponent(
i)}catch{return i}});if(e==="/")return n($t,{version:t});if(e==="/quotas")return n(Mt,{version:t});if(e==="/admin")return n(At,{version:s});if(r[0]==="ns"&&r[1]){
if(r.length===2)return n(St,{name:r[1],version:s});if(r.length===3&&r[2]==="access")return n(Lt,{name:r[1],version:s});if(r.length===4)return n(Ft,{namespace:r[1],
resource:r[2],name:r[3],version:s})}return n("main",null,n(Ee,{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}bt();
Ne(n(Sn,null),document.getElementById("app"));
