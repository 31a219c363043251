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
var Re="http://www.w3.org/2000/svg",ze="http://www.w3.org/1999/xhtml",ct="http://www.w3.org/1998/Math/MathML";var ae={},oe=[],pt=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var pe=Array.isArray;function j(e,n){for(let s in n)e[s]=n[s];return e}function $e(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var re=oe.slice;function ut(e,n,s,a){let o,i,l;for(;n=n._parent;)if((o=n._component)&&!o._processingException)try{if(i=o.constructor,i&&i.getDerivedStateFromError!=null&&(o.setState(
i.getDerivedStateFromError(e)),l=o._dirty),o.componentDidCatch!=null&&(o.componentDidCatch(e,a||{}),l=o._dirty),l)return o._pendingError=o}catch(p){e=p}throw e}var gn={_catchError:ut},C=gn;var bn=0;function t(e,n,s){let a={},o,i,l;for(l in n)l=="key"?o=n[l]:l=="ref"?i=n[l]:a[l]=n[l];if(arguments.length>2&&(a.children=arguments.length>3?re.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)a[l]===void 0&&(a[l]=e.defaultProps[l]);return ue(e,a,o,i,null)}function ue(e,n,s,a,o){
let i={type:e,props:n,key:s,ref:a,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:o==null?++bn:o,_index:-1,_flags:0};
return o==null&&C.vnode!=null&&C.vnode(i),i}function y(e){return e.children}function me(e,n){this.props=e,this.context=n}me.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=j({},this.state),typeof e=="function"&&(e=e(j({},s),this.props)),e&&j(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),Ne(this))};me.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Ne(this))};me.prototype.render=y;function z(e,n){if(n==null)return e._parent?
z(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?z(e):null}
function hn(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,a=[],o=[],i=j({},n);i._original=n._original+1,C.vnode&&C.vnode(i),de(e._parentDom,i,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,a,s==null?z(n):s,!!(n._flags&32),o),i._original=n._original,i._parent._children[i._index]=i,De(a,i,o),n._dom=n._parent=
null,i._dom!=s&&mt(i)}}function mt(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),mt(e)}var ie=[],Ye,yn=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Ne(e){
(!e._dirty&&(e._dirty=!0)&&ie.push(e)&&!Ue._rerenderCount++||Ye!=C.debounceRendering)&&(Ye=C.debounceRendering,(Ye||yn)(Ue))}var _n=(e,n)=>e._vnode._depth-n._vnode.
_depth;function Ue(){try{let e,n=1;for(;ie.length;)ie.length>n&&ie.sort(_n),e=ie.shift(),n=ie.length,hn(e)}finally{ie.length=Ue._rerenderCount=0}}Ue._rerenderCount=
0;function Je(e,n,s,a,o,i,l,p,d,f,m){let c,u,r,b,h,_=a&&a._children||oe,E=n.length;for(d=vn(s,n,_,d,E),c=0;c<E;c++){if(r=s._children[c],r==null)continue;u=r._index!=
-1&&_[r._index]||ae,r._index=c;let T=de(e,r,u,o,i,l,p,d,f,m);b=r._dom,r.ref&&u.ref!=r.ref&&(u.ref&&je(u.ref,null,r),m.push(r.ref,r._component||b,r)),h==null&&b!=
null&&(h=b),r._flags&4?(d=dt(r,d,e),u._dom&&(u._dom=null)):typeof r.type=="function"&&T!==void 0?d=T:b&&(d=b.nextSibling),r._flags&=-7}return s._dom=h,d}function vn(e,n,s,a,o){
let i,l,p,d=s.length,f=d,m=0;for(e._children=new Array(o),i=0;i<o;i++){if(l=n[i],l==null||typeof l=="boolean"||typeof l=="function"){e._children[i]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[i]=ue(null,l,null,null,null):pe(l)?l=e._children[i]=ue(y,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[i]=ue(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[i]=l;let c=i+m;l._parent=e,
l._depth=e._depth+1;let u=l._index=xn(l,s,c,f);p=null,u!=-1&&(p=s[u],f--,p&&(p._flags|=2)),p==null||p._original==null?(u==-1&&(o>d?m--:o<d&&m++),typeof l.type!=
"function"&&(l._flags|=4)):u!=c&&(u==c-1?m--:u==c+1?m++:(u>c?m--:m++,l._flags|=4))}if(f)for(i=0;i<d;i++)p=s[i],p!=null&&(p._flags&2)==0&&(p._dom==a&&(a=z(p)),Xe(
p,p));return a}function dt(e,n,s){if(typeof e.type=="function"){let a=e._children;for(let o=0;a&&o<a.length;o++)a[o]&&(a[o]._parent=e,n=dt(a[o],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=z(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function xn(e,n,s,a){let o=e.key,i=e.type,l=n[s],p=l!=null&&(l._flags&2)==0,d=a>(p?1:0);if(l===null&&o==null||p&&o==l.key&&i==l.type)return s;if(d){let f=s-1,m=s+
1;for(;f>=0||m<n.length;){let c=f>=0?f--:m++;if(l=n[c],l!=null&&(l._flags&2)==0&&o==l.key&&i==l.type)return c}}return-1}var ht=Math.random().toString(8),Ze="__d"+ht,Fe="__a"+ht;function ft(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||pt.test(
n)?e[n]=s:e[n]=s+"px"}var wn=/(PointerCapture)$|Capture$/i,yt=0;function Ee(e,n,s,a,o){let i;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof a==
"string"&&(e.style.cssText=a=""),a)for(n in a)s&&n in s||ft(e.style,n,"");if(s)for(n in s)(!a||s[n]!=a[n])&&ft(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){i=n!=
(n=n.replace(wn,"$1"));let l=n.toLowerCase();l in e||n=="onFocusOut"||n=="onFocusIn"?n=l.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+i]=
s,s?a?s[Fe]=a[Fe]:(s[Fe]=yt,e.addEventListener(n,i?bt:gt,i)):e.removeEventListener(n,i?bt:gt,i)}else{if(o==Re)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function _t(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[Ze]==null)n[Ze]=yt++;else if(n[Ze]<s[Fe])return;return s(C.event?C.event(n):n)}}}var gt=_t(!1),bt=_t(!0);function de(e,n,s,a,o,i,l,p,d,f){let m,c=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(d=!!(s._flags&32),p=n._dom=s._dom,i=[p]),(m=C._diff)&&m(n);
e:if(typeof c=="function"){let u=l.length;try{let r,b,h,_,E,T,v=n.props,k=c.prototype&&c.prototype.render;m=c.contextType;let Q=m&&a[m._id],K=m?Q?Q.props.value:
m._defaultValue:a;if(s._component?(r=n._component=s._component,T=r._processingException=r._pendingError):(k?n._component=r=new c(v,K):(n._component=r=new me(v,K),
r.constructor=c,r.render=Cn),Q&&Q.sub(r),r.state||(r.state={}),r._globalContext=a,b=r._dirty=!0,r._renderCallbacks=[],r._stateCallbacks=[]),k&&r._nextState==null&&
(r._nextState=r.state),k&&c.getDerivedStateFromProps!=null&&(r._nextState==r.state&&(r._nextState=j({},r._nextState)),j(r._nextState,c.getDerivedStateFromProps(
v,r._nextState))),h=r.props,_=r.state,r._vnode=n,b)k&&c.getDerivedStateFromProps==null&&r.componentWillMount!=null&&r.componentWillMount(),k&&r.componentDidMount!=
null&&r._renderCallbacks.push(r.componentDidMount);else{if(k&&c.getDerivedStateFromProps==null&&v!==h&&r.componentWillReceiveProps!=null&&r.componentWillReceiveProps(
v,K),n._original==s._original||!r._force&&r.shouldComponentUpdate!=null&&r.shouldComponentUpdate(v,r._nextState,K)===!1){n._original!=s._original&&(r.props=v,r.
state=r._nextState,r._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(x=>{x&&(x._parent=n)}),oe.push.apply(r._renderCallbacks,r._stateCallbacks),
r._stateCallbacks=[],r._renderCallbacks.length&&l.push(r),p=z(s);break e}r.componentWillUpdate!=null&&r.componentWillUpdate(v,r._nextState,K),k&&r.componentDidUpdate!=
null&&r._renderCallbacks.push(()=>{r.componentDidUpdate(h,_,E)})}r.context=K,r.props=v,r._parentDom=e,r._force=!1;let q=C._render,qe=0;if(k)r.state=r._nextState,
r._dirty=!1,q&&q(n),m=r.render(r.props,r.state,r.context),oe.push.apply(r._renderCallbacks,r._stateCallbacks),r._stateCallbacks=[];else do r._dirty=!1,q&&q(n),m=
r.render(r.props,r.state,r.context),r.state=r._nextState;while(r._dirty&&++qe<25);r.state=r._nextState,r.getChildContext!=null&&(a=j(j({},a),r.getChildContext())),
k&&!b&&r.getSnapshotBeforeUpdate!=null&&(E=r.getSnapshotBeforeUpdate(h,_));let ce=m!=null&&m.type===y&&m.key==null?xt(m.props.children):m;p=Je(e,pe(ce)?ce:[ce],
n,s,a,o,i,l,p,d,f),r.base=n._dom,n._flags&=-161,r._renderCallbacks.length&&l.push(r),T&&(r._pendingError=r._processingException=null)}catch(r){if(l.length=u,n._original=
null,d||i!=null){if(r.then){for(n._flags|=d?160:128;p&&p.nodeType==8&&p.nextSibling;)p=p.nextSibling;i!=null&&(i[i.indexOf(p)]=null),n._dom=p}else if(i!=null)for(let b=i.
length;b--;)$e(i[b])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),r.then||vt(n),C._catchError(r,n,s)}}else i==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):p=n._dom=En(s._dom,n,s,a,o,i,l,d,f);return(m=C.diffed)&&m(n),n._flags&128?void 0:p}function vt(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(vt))}function De(e,n,s){for(let a=0;a<s.length;a++)je(s[a],s[++a],s[++a]);C._commit&&C._commit(n,e),e.some(a=>{try{e=a.
_renderCallbacks,a._renderCallbacks=[],e.some(o=>{o.call(a)})}catch(o){C._catchError(o,a._vnode)}})}function xt(e){return typeof e!="object"||e==null||e._depth>
0?e:pe(e)?e.map(xt):e.constructor!==void 0?null:j({},e)}function En(e,n,s,a,o,i,l,p,d){let f=s.props||ae,m=n.props,c=n.type,u,r,b,h,_,E,T;if(c=="svg"?o=Re:c=="m\
ath"?o=ct:o||(o=ze),i!=null){for(u=0;u<i.length;u++)if(_=i[u],_&&"setAttribute"in _==!!c&&(c?_.localName==c:_.nodeType==3)){e=_,i[u]=null;break}}if(e==null){if(c==
null)return document.createTextNode(m);e=document.createElementNS(o,c,m.is&&m),p&&(C._hydrationMismatch&&C._hydrationMismatch(n,i),p=!1),i=null}if(c==null)f!==m&&
(!p||e.data!=m)&&(e.data=m);else{if(i=c=="textarea"&&m.defaultValue!=null?null:i&&re.call(e.childNodes),!p&&i!=null)for(f={},u=0;u<e.attributes.length;u++)_=e.attributes[u],
f[_.name]=_.value;for(u in f)_=f[u],u=="dangerouslySetInnerHTML"?b=_:u!="children"&&!(u in m)&&!(u=="value"&&"defaultValue"in m)&&!(u=="checked"&&"defaultChecke\
d"in m)&&Ee(e,u,null,_,o);for(u in m)_=m[u],u=="children"?h=_:u=="dangerouslySetInnerHTML"?r=_:u=="value"?E=_:u=="checked"?T=_:(!p||typeof _=="function")&&f[u]!==
_&&Ee(e,u,_,f[u],o);if(r)!p&&(!b||r.__html!=b.__html&&r.__html!=e.innerHTML)&&(e.innerHTML=r.__html),n._children=[];else if(b&&(e.innerHTML=""),Je(n.type=="temp\
late"?e.content:e,pe(h)?h:[h],n,s,a,c=="foreignObject"?ze:o,i,l,i?i[0]:s._children&&z(s,0),p,d),i!=null)for(u=i.length;u--;)$e(i[u]);(!p||c=="textarea")&&(u="va\
lue",c=="progress"&&E==null?e.removeAttribute("value"):E!=void 0&&(E!==e[u]||c=="progress"&&!E||c=="option"&&E!=f[u])&&Ee(e,u,E,f[u],o),u="checked",T!=void 0&&T!=
e[u]&&Ee(e,u,T,f[u],o))}return e}function je(e,n,s){try{if(typeof e=="function"){let a=typeof e._unmount=="function";a&&e._unmount(),(!a||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(a){C._catchError(a,s)}}function Xe(e,n,s){let a;if(C.unmount&&C.unmount(e),(a=e.ref)&&(!a.current||a.current==e._dom)&&je(a,null,n),
(a=e._component)!=null){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(o){C._catchError(o,n)}a.base=a._parentDom=a._globalContext=null}if(a=e._children)
for(let o=0;o<a.length;o++)a[o]&&Xe(a[o],n,s||typeof e.type!="function");s||$e(e._dom),e._component=e._parent=e._dom=void 0}function Cn(e,n,s){return this.constructor(
e,s)}function Ve(e,n,s){n==document&&(n=document.documentElement),C._root&&C._root(e,n);let a=typeof s=="function",o=a?null:s&&s._children||n._children;e=(!a&&s||n).
_children=t(y,null,[e]);let i=[],l=[];de(n,e,o||ae,ae,n.namespaceURI,!a&&s?[s]:o?null:n.firstChild?re.call(n.childNodes):null,i,!a&&s?s:o?o._dom:n.firstChild,a,
l),De(i,e,l),e.props.children=null}var Sn=0;function et(e){function n(s){if(!this.getChildContext){let a=new Set,o={};o[n._id]=this,this.getChildContext=()=>o,this.componentWillUnmount=()=>{a=null},
this.shouldComponentUpdate=function(i){this.props.value!=i.value&&a.forEach(l=>{l._force=!0,Ne(l)})},this.sub=i=>{a.add(i);let l=i.componentWillUnmount;i.componentWillUnmount=
()=>{a&&a.delete(i),l&&l.call(i)}}}return s.children}return n._id="__cC"+Sn++,n._defaultValue=e,n.Consumer=(s,a)=>s.children(a),n.Provider=n._contextRef=n.Consumer.
contextType=n,n}var fe,A,nt,He=0,Mt=[],R=C,wt=R._diff,kt=R._render,Et=R.diffed,Ct=R._commit,St=R.unmount,Lt=R._root,Ln=35,tt;R._diff=e=>{A=null,wt&&wt(e)};R._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),Lt&&Lt(e,n)};R._render=e=>{kt&&kt(e),A=e._component,fe=0;let n=A.__hooks;n&&(nt===A?(n._pendingEffects=
[],A._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(Qe),n._pendingEffects.
some(st),n._pendingEffects=[],fe=0)),nt=A};R.diffed=e=>{Et&&Et(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&An(Mt.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),nt=A=null};R._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(Qe),s._renderCallbacks=
s._renderCallbacks.filter(a=>a._value?st(a):!0)}catch(a){n.some(o=>{o._renderCallbacks&&(o._renderCallbacks=[])}),n=[],R._catchError(a,s._vnode)}}),Ct&&Ct(e,n)};
R.unmount=e=>{St&&St(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(a=>{try{Qe(a)}catch(o){s=o}}),n.__hooks=void 0,s&&R._catchError(s,n._vnode)}};
function Be(e,n){R._hook&&R._hook(A,e,He||n),He=0;let s=A.__hooks||(A.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function w(e){return He=1,Tn(At,e)}function Tn(e,n,s){let a=Be(fe++,2);if(a._reducer=e,!a._component&&(a._value=[s?s(n):At(void 0,n),o=>{let i=a._nextValue?a._nextValue[0]:
a._value[0],l=a._reducer(i,o);i!==l&&(a._nextValue=[l,a._value[1]],a._component.setState({}))}],a._component=A,!A._hasScuFromHooks)){let l=function(p,d,f){if(!a.
_component.__hooks)return!0;let m=!1,c=a._component.props!==p;if(a._component.__hooks._list.some(u=>{if(u._nextValue){m=!0;let r=u._value[0];u._value=u._nextValue,
u._nextValue=void 0,r!==u._value[0]&&(c=!0)}}),o){let u=o.call(this,p,d,f);return m?u||c:u}return!m||c};A._hasScuFromHooks=!0;let o=A.shouldComponentUpdate,i=A.
componentWillUpdate;A.componentWillUpdate=function(p,d,f){if(this._force){let m=o;o=void 0,l(p,d,f),o=m}i&&i.call(this,p,d,f)},A.shouldComponentUpdate=l}return a.
_nextValue||a._value}function U(e,n){let s=Be(fe++,3);!R._skipEffects&&Pt(s._args,n)&&(s._value=e,s._pendingArgs=n,A.__hooks._pendingEffects.push(s))}function B(e){return He=5,V(()=>({current:e}),[])}function V(e,n){let s=Be(fe++,7);return Pt(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function Y(e){let n=A.context[e._id],s=Be(fe++,9);return s._context=e,n?(s._value==null&&(s._value=!0,n.sub(A)),n.props.value):e._defaultValue}function Mn(){let e;for(;e=Mt.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(Qe),n._pendingEffects.some(st),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],R._catchError(s,e._vnode)}}}var Tt=typeof requestAnimationFrame=="function";function Pn(e){let n=()=>{clearTimeout(s),Tt&&cancelAnimationFrame(
a),setTimeout(e)},s=setTimeout(n,Ln),a;Tt&&(a=requestAnimationFrame(n))}function An(e){(e===1||tt!==R.requestAnimationFrame)&&(tt=R.requestAnimationFrame,(tt||Pn)(
Mn))}function Qe(e){let n=A,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),A=n}function st(e){let n=A;e._cleanup=e._value(),A=n}function Pt(e,n){return!e||
e.length!==n.length||n.some((s,a)=>s!==e[a])}function At(e,n){return typeof n=="function"?n(e):n}var $t="hns-token",Rt="X-HNS-Token";function Ut(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem($t,e),history.replaceState(
null,"",location.pathname+location.search))}var J=class extends Error{constructor(s,a){super(a.title);this.status=s;this.problem=a}status;problem},Rn={title:"Th\
e command has ended",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."},$n={title:"This tab has no valid t\
oken",detail:"It was opened without one, or another program serves this address now.",hint:"Do not reload this tab. If the command has ended, run it again; open\
 the URL that it prints."};async function at(e,n,s){let[a,o]=(sessionStorage.getItem($t)??"").split("."),i;try{i=await fetch(e,{signal:n,credentials:"omit",cache:"\
no-store",headers:{[Rt]:a,...s?{"Content-Type":"application/json"}:{}},...s?{method:"POST",body:JSON.stringify(s)}:{}})}catch(p){throw n?.aborted?p:new J(0,Rn)}
if(!o||i.headers.get(Rt)!==o)throw new J(401,$n);if(i.ok)return i;let l={title:`The server answers ${i.status}`};try{l=await i.json()}catch{}throw new J(i.status,
l)}async function Nt(e,n){await at(e,void 0,n)}var Un=e=>({title:"It has been deleted",detail:e.detail,hint:"It was there when this page was opened."});function M(e,n,s=!1){
let[a,o]=w({path:e}),i=B(),l=B(n);return U(()=>{if(s)return;let p=new AbortController,d=0,f=!1,m=!1,c=0,u=0,r=async()=>{f=!0,m=!1;let h=0,_=performance.now();try{
let E=await(await at(e,p.signal)).json();if(p.signal.aborted)return;c=0,o({path:e,data:E,at:new Date})}catch(E){if(p.signal.aborted)return;let T=E instanceof J?
E:new J(0,{title:"The answer cannot be read",detail:String(E)}),{status:v}=T;o(k=>k.path!==e||v===403?{path:e,error:T}:v===404?{path:e,error:k.data?new J(404,Un(
T.problem)):k.error??T}:{...k,error:T}),(v===0||v>=500)&&(h=Math.min(30,2**++c)*1e3)}f=!1,u=performance.now()+Math.max(h,4*(performance.now()-_)),(m||h)&&b()},b=i.
current=()=>{m=!0,!f&&(clearTimeout(d),d=window.setTimeout(()=>document.hidden?document.addEventListener("visibilitychange",b,{once:!0,signal:p.signal}):r(),Math.
max(0,u-performance.now())))};return r(),()=>{p.abort(),clearTimeout(d)}},[e,s]),U(()=>{l.current!==n&&i.current?.(),l.current=n},[n]),a.path===e?a:{}}function Dt(){
let[e,n]=w("connecting"),[s,a]=w(0);return U(()=>{let o,i=0,l=0,p=!1,d=()=>{p||document.hidden||(i=window.setTimeout(f,Math.min(15,2**l++)*1e3))},f=async()=>{clearTimeout(
i);let c=o=new AbortController,u=0,r=()=>{clearTimeout(u),u=window.setTimeout(()=>c.abort(),25e3)};try{r();let b=(await at("/api/changes",c.signal)).body.pipeThrough(
new TextDecoderStream).getReader();for(let h=await b.read();!h.done;h=await b.read())r(),l=0,n("live"),h.value.includes("changed")&&a(_=>_+1)}catch(b){b instanceof
J&&b.status===401&&!c.signal.aborted&&(p=!0,n("lost"))}clearTimeout(u),!(o!==c||p)&&(document.hidden||(n("lost"),a(b=>b+1)),d())},m=()=>{clearTimeout(i),o?.abort(),
o=void 0,document.hidden||(l=0,a(c=>c+1),f())};return document.addEventListener("visibilitychange",m),document.hidden||f(),()=>{p=!0,clearTimeout(i),o?.abort(),
document.removeEventListener("visibilitychange",m)}},[]),[e,s]}function jt(e){let n=new Map;for(let i of e)n.set(i.name,{member:i,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let i of n.values()){let l=i.
member.parent?n.get(i.member.parent):void 0;i.parentMissing=!!i.member.parent&&!l,l?l.children.push(i):s.push(i)}let a=new Set,o=i=>{let l=[i];a.add(i);for(let p=0;p<
l.length;p++){l[p].children=l[p].children.filter(d=>!a.has(d));for(let d of l[p].children)a.add(d),l.push(d)}for(let p=l.length-1;p>=0;p--){let d=l[p];d.problems=
d.member.problems?.length??0;for(let f of d.children)d.problems+=f.problems,d.descendants+=f.descendants+1;Ot(d.children)}};s.forEach(o);for(let i of n.values())
a.has(i)||(s.push(i),o(i));return Ot(s)}function Ot(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function Nn(e,n){
if(n.problems&&!e.problems?.length||n.mine&&!n.mine.has(e.name))return!1;let s=n.text.trim().toLowerCase(),a=s.indexOf("=");if(a>0){let o=e.labels??{},i=n.text.
trim().slice(0,a);return Object.hasOwn(o,i)&&o[i].toLowerCase()===s.slice(a+1)}return e.name.includes(s)}function ge(e){return e.problems||!!e.mine||e.text.trim()!==
""}function be(e,n,s){let a=ge(n),o=new Set;if(a){let f=[];for(let m of e)f.push({node:m,above:[]});for(let m=f.pop();m;m=f.pop()){if(Nn(m.node.member,n)){o.add(
m.node);for(let u of m.above)o.add(u)}let c=m.node.children.length?[...m.above,m.node]:m.above;for(let u of m.node.children)f.push({node:u,above:c})}}let i=f=>a?
f.filter(m=>o.has(m)):f,l=[],p=[],d=(f,m,c)=>{for(let u=f.length-1;u>=0;u--)p.push({node:f[u],depth:m,parent:c,expanded:!1,position:u+1,siblings:f.length})};d(i(
e),0,-1);for(let f=p.pop();f;f=p.pop()){let m=i(f.node.children);f.expanded=m.length>0&&(a||s(f.node)),l.push(f),f.expanded&&d(m,f.depth+1,l.length-1)}return l}
function Ft(e,n,s){let a=Math.max(0,Math.min(n-Math.floor(s/2),e-s));return[a,Math.min(e,a+s)]}function ee(e){let n=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();
return n.charAt(0).toUpperCase()+n.slice(1)}function Ce(e,n=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));return s<120?s+"s":s<
3*3600?Math.floor(s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function L(e,n,s=n+"s"){return`${e.
toLocaleString("en")} ${e===1?n:s}`}var It=e=>Math.round(e*100)+"%";function Dn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","G","T","P","E"].
indexOf(e);return n>=0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:1}function Se(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/Dn(s)).toFixed(3)+s}function Ht(e,n,s){
let a={name:e.namespace,own:0,sum:0,children:[]},o=new Map([[a.name,a]]);for(let{namespace:l,used:p}of e.namespaces){if(!p[n])continue;let d=o.get(l),f=[];for(let r=l;r&&
!o.has(r)&&!f.includes(r);r=s.get(r))f.push(r);let m=f.length&&s.get(f[f.length-1]),c=m&&o.get(m)||a,u=m&&o.has(m)?f:f.slice(0,1);for(let r of u.reverse())d={name:r,
own:0,sum:0,children:[]},c.children.push(d),o.set(r,d),c=d;d.own=p[n]}let i=l=>(l.sum=l.own+l.children.reduce((p,d)=>p+i(d),0),l.children.sort((p,d)=>d.sum-p.sum||
(p.name<d.name?-1:1)),l.sum);return i(a),a}function Bt(e,n){let s=o=>o.value*(1-o.share),a=new Map;for(let o of e)if(n.includes(o.namespace)&&!o.scoped)for(let i of o.
limits){let l=a.get(i.resource);(!l||s(i)<s(l.limit))&&a.set(i.resource,{quota:o,limit:i})}return[...a.values()].sort((o,i)=>i.limit.share-o.limit.share)}function Qt(e){
let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+`\r
`).join("")}function Le(e){return e.replace(/(?![\n\t ])[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/gu,n=>`\
⟨U+${n.codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function he(e){if(/^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$/.test(e))return e;if(Le(
e)===e&&!/[\n\t]/.test(e))return"'"+e.replace(/'/g,"'\\''")+"'";let n=s=>encodeURIComponent(s).replace(/%(..)|./g,(a,o)=>"\\"+(o?parseInt(o,16):a.charCodeAt(0)).
toString(8).padStart(3,"0"));return"$'"+e.replace(/[^ -~]|[!'\\]/gu,n)+"'"}function Kt(e){let n=new Map;for(let s of e)for(let a of s.access??[]){let o=`${a.kind}\
 ${a.namespace?a.namespace+"/":""}${a.name} ${a.change==="Gained"?"gains":"loses"} ${a.roleKind}/${a.role}`;n.has(o)||n.set(o,{change:a.change,text:o,namespaces:[]}),
n.get(o).namespaces.push(s.name)}return[...n.values()]}var Ke=500;function Wt(e){let i=[],l=e.map(({node:c,expanded:u})=>c.member.name+(!u&&c.descendants?`  +${c.
descendants}`:""));e.forEach((c,u)=>{i[c.depth]=Math.max(i[c.depth]??0,l[u].length*7.6+64)});let p=[];i.reduce((c,u,r)=>(p[r]=c,c+u),16);let d=e.map((c,u)=>({node:c.
node,name:c.node.member.name,label:l[u],x:p[c.depth],y:0,end:p[c.depth]+22+l[u].length*7.6,title:[c.node.member.name,...(c.node.member.problems??[]).map(r=>`${ee(
r.reason)}: ${r.message}`)].join(`
`)})),f=e.map(()=>[]);e.forEach((c,u)=>{c.parent>=0&&(f[c.parent].push(u),d[u].parent=d[c.parent])});let m=0;e.forEach((c,u)=>{f[u].length||(d[u].y=16+(m+++.5)*
24)});for(let c=e.length-1;c>=0;c--){let u=f[c];u.length&&(d[c].y=(d[u[0]].y+d[u[u.length-1]].y)/2)}return{nodes:d,width:Math.ceil((p[p.length-1]??16)+(i[i.length-
1]??0)),height:Math.ceil(32+m*24)}}function te(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function S({to:e,children:n,...s}){return t("a",{href:e,onClick:o=>{
o.button||o.ctrlKey||o.metaKey||o.shiftKey||o.altKey||(o.preventDefault(),te(e))},...s},n)}var On=C.vnode;C.vnode=e=>{e.type===null&&typeof e.props=="string"?e.
props=Le(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=Le(e.props.title)),On?.(e)};function O(e){U(()=>{document.title=Le(e)+" · hns"},[e])}function ne(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function Te(e,n,s){let a=document.createElement("a");a.href=URL.createObjectURL(new Blob([s],{type:n})),a.download=e,a.click(),
setTimeout(()=>URL.revokeObjectURL(a.href),1e4)}var le=200;function D(e,n=le){let[s,a]=w(n),o=Math.min(le,e.length-s);return[e.slice(0,s),o>0&&t("button",{"data\
-more":"",onClick:()=>a(s+o)},`Show ${o} more of ${e.length}`)]}function I({list:e}){return t(y,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+
n.slice(1))))}var P=e=>"/ns/"+e,W=(e,n,s)=>`/ns/${e}/${encodeURIComponent(n)}/${encodeURIComponent(s)}`;function Gt({text:e,title:n}){let[s,a]=w(!1);return t("b\
utton",{onClick:()=>navigator.clipboard.writeText(e).then(()=>{a(!0),setTimeout(()=>a(!1),1500)})},t("span",{"aria-live":"polite"},s?"Copied":n))}function $({command:e}){
let[n,s]=w(!1);return t("button",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command\
 that shows the same"},t("code",null,e),t("span",{"aria-live":"polite"},n?"Copied":"Copy"))}function se({problem:e}){return t("section",{class:"box bad",role:"a\
lert"},t("h2",null,e.title),e.missingPermission&&t("p",null,"Missing permission: ",t("code",null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),
e.hint&&t("p",null,e.hint))}function N({from:e,children:n}){let[s,a]=w(!1);return U(()=>{let o=setTimeout(()=>a(!0),200);return()=>clearTimeout(o)},[]),e.data?t(
y,null,t(qt,{from:e}),n(e.data)):e.error?t(se,{problem:e.error.problem}):t("p",{class:"dim",role:"status"},s?"Reading from the cluster …":"")}function qt({from:e}){
return e.error?t("p",{class:"stale",role:"status"},t("b",null,e.error.problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.
hint):null}function ye({from:e,what:n=""}){let{data:s,error:a}=e;return t(y,null,a&&(s?t(qt,{from:e}):t("p",{class:"note"},n,a.problem.missingPermission?t(y,null,
"Missing permission: ",t("code",null,a.problem.missingPermission)):a.problem.detail??a.problem.title)),s?.notes?.map(o=>t("p",{class:"note",key:o},n,o)))}function Me({
text:e}){return t("pre",{class:"diff",tabIndex:0,role:"group","aria-label":"Difference"},e.split(`
`).filter((n,s,a)=>n||s<a.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function _e({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?ee(n.type).toLowerCase():ee(n.type))," ",t("b",null,ee(n.reason))," ",t("span",{class:"message"},n.message))))}var jn=30,Fn=200,G=et({roots:[],parents:new Map});function zt(e){let n=M("/api/forest",e),s=n.data?.namespaces,a=V(()=>({roots:jt(s??[]),parents:new Map((s??[]).
map(o=>[o.name,o.parent]))}),[s]);return{...n,...a}}function Pe(e){let{parents:n}=Y(G),s=[e];for(let a=n.get(e);a&&n.has(a)&&!s.includes(a);a=n.get(a))s.unshift(
a);return s}function Yt({name:e}){let{data:n,roots:s}=Y(G),a=Pe(e),[o,i]=w(new Map);if(!n?.namespaces.length)return null;let p=be(s,{text:"",problems:!1},({member:u})=>o.
get(u.name)??(n.namespaces.length<=jn||a.includes(u.name))),[d,f]=Ft(p.length,p.findIndex(u=>u.node.member.name===e),Fn),m=(u,r)=>i(new Map(o).set(u,r)),c=u=>u>
0&&t("li",{class:"dim"},t(S,{to:"/"},L(u,"more")));return t("nav",{class:"trees","aria-label":"Trees"},t("ul",null,c(d),p.slice(d,f).map(({node:u,depth:r,expanded:b})=>{
let{member:h,children:_,problems:E}=u;return t("li",{key:h.name,style:{"--depth":Math.min(r,6)}},_.length?t("button",{class:"twist","aria-expanded":b,"aria-labe\
l":`Children of ${h.name}`,onClick:()=>m(h.name,!b)},b?"▾":"▸"):t("span",{class:"twist"}),t(S,{to:P(h.name),title:h.name,"aria-current":h.name===e?"page":void 0,
class:h.problems?.length?"bad":""},h.name),E>0&&(h.problems?.length||!b)&&t("span",{class:"bad",title:L(E,"problem")},"●",t("span",{class:"hidden"}," ",L(E,"p\
roblem"))))}),c(p.length-f)))}function Jt({version:e}){let n=M("/api/quotas",e),{parents:s}=Y(G);return O("Quotas"),t("main",null,!n.data&&t("div",{class:"head"},t("h1",null,"Quotas")),t(N,{
from:n},a=>t(In,{data:a,parents:s})))}var ve=e=>e>=1?"full":e>=.8?"high":"";function xe({limit:e,parts:n}){let s=a=>e.value>0?Math.min(100,a/e.value*100)+"%":"0\
%";return t("span",{class:"bar "+ve(e.share),role:"meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.
share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},(n??[{name:"",value:e.share*e.value}]).map((a,o)=>t("i",{key:a.name,class:o%2?"odd":"",style:{width:s(a.value)},
title:a.name&&`${a.name}: ${Se(a.value,e.hard)}`})))}function In({data:e,parents:n}){let[s,a]=ne(),o=s.get("resource")??"",i=[...new Set(e.quotas.flatMap(c=>c.limits.
map(u=>u.resource)))].sort(),l=c=>Math.max(0,...c.limits.filter(u=>!o||u.resource===o).map(u=>u.share)),p=e.quotas.filter(c=>!o||c.limits.some(u=>u.resource===o)).
sort((c,u)=>+!!u.problems-+!!c.problems||l(u)-l(c)),d=e.quotas.filter(c=>c.limits.some(u=>u.share>=1)).length,[f,m]=D(p);return t(y,null,t("div",{class:"head"},
t("h1",null,"Quotas"),t("p",{class:"summary"},L(e.quotas.length,"quota"),", the fullest first",d>0&&t(y,null," · ",t("b",{class:"bad"},d," full"))),t($,{command:"\
kubectl hns quota -A --tree"})),t(I,{list:e.notes}),i.length>1&&t("div",{class:"tools"},t("label",null,"Resource ",t("select",{value:o,onChange:c=>a(c.target.value?
{resource:c.target.value}:{})},t("option",{value:""},"all"),i.filter((c,u)=>u<le||c===o).map(c=>t("option",{key:c,value:c},c))))),p.length?f.map(c=>t(Hn,{key:c.
namespace+"/"+c.name,quota:c,parents:n,only:o})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may s\
ee","."),m)}function Hn({quota:e,parents:n,only:s}){let[a,o]=w(""),i=e.limits.filter(d=>!s||d.resource===s),[l,p]=D(i);return t("section",{class:"box","aria-lab\
el":`Quota ${e.name} of ${e.namespace}`,"data-quota":e.namespace+"/"+e.name},t("h2",null,t(S,{to:P(e.namespace)},e.namespace)," ",t("span",{class:"dim"},"/")," ",
t(S,{to:W(e.namespace,"hierarchicalresourcequotas.hnc.x-k8s.io",e.name)},e.name)," ",e.scoped&&t("span",{class:"tag"},"scoped")),e.problems&&t(_e,{list:e.problems}),
l.map((d,f)=>{let m=Ht(e,d.resource,n),c=a===d.resource;return t("div",{class:"limit",key:d.resource},t("button",{class:"twist","aria-expanded":c,"aria-label":`\
Use of ${d.resource} by namespace`,disabled:!m.children.length&&!m.own,onClick:()=>o(c?"":d.resource)},c?"▾":"▸"),t("span",{class:"what"},d.resource,f===0&&
e.limits.length>1&&!s&&d.share>0&&t("span",{class:"tag"},"binds first")),t(xe,{limit:d,parts:e.omitted?void 0:[...m.own?[{name:e.namespace,value:m.own}]:[],...m.
children.slice(0,le).map(u=>({name:u.name,value:u.sum}))]}),t("span",{class:"num "+ve(d.share)},d.used," of ",d.hard," ",t("span",{class:"dim"},It(d.share))),c&&
t("ul",{class:"use"},t(Xt,{use:m,limit:d})))}),p,i.length===0&&t("p",{class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"note"},L(e.omitted,"namespac\
e")," more use it than are listed."))}function Xt({use:e,limit:n}){let s={...n,used:Se(e.sum,n.hard),share:n.value>0?e.sum/n.value:1},[a,o]=D(e.children);return t(
"li",null,t("div",{class:"branch"},t(S,{to:P(e.name)},e.name),t("span",{class:"num"},Se(e.sum,n.hard),e.children.length>0&&t("span",{class:"dim"}," (",Se(e.own,
n.hard)," itself)")),t(xe,{limit:s})),e.children.length>0&&t("ul",null,a.map(i=>t(Xt,{key:i.name,use:i,limit:n}))),o)}function Zt({name:e,version:n}){let s=M("/api/namespaces/"+e,n);return O(e),t("main",null,!s.data&&t(We,{name:e,page:""}),t(N,{from:s},a=>t(Qn,{ns:a,version:n})))}
var Bn=[["","Overview"],["access","Access"]];function We({name:e,page:n,path:s,abstract:a,children:o}){let i=Pe(e);return t(y,null,t(ot,{names:s??i,abstract:a}),
t("div",{class:"head"},t("h1",null,e),o),t("nav",{class:"tabs","aria-label":"Pages of "+e},Bn.map(([l,p])=>t(S,{key:l,to:P(e)+(l&&"/"+l),"aria-current":l===n?"p\
age":void 0},p)),t(S,{to:"/plan?namespace="+e},"Plan a change"),t(S,{to:W(e,"hierarchies.hnc.x-k8s.io","hierarchy")},"Hierarchy as YAML")))}function ot({names:e,
abstract:n=[],object:s}){return t("nav",{"aria-label":"Path to the root",class:"path"},t("ol",null,t("li",null,t(S,{to:"/"},"Forest")),[...n].reverse().map(a=>t(
"li",{key:"a "+a,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},a)),e.map((a,o)=>t("li",{key:a},!s&&o===e.length-1?t("b",{"aria-current":"\
page"},a):t(S,{to:P(a)},a))),s&&t("li",null,t("b",{"aria-current":"page"},s))))}function Qn({ns:e,version:n}){let[s,a]=D(e.resources,50),o=[e.kind==="full"?"ful\
l namespace":e.kind,e.path.length>1?`level ${e.path.length}`:"root",e.created&&`${Ce(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with\
 it${e.cascadingDeletionSetFrom&&e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return t(y,null,t(We,{
name:e.name,page:"",path:e.path,abstract:e.abstractAncestors},t("p",{class:"summary"},e.deleting&&t(y,null,t("b",{class:"bad"},"being deleted")," · "),o.join("\
 · ")),t($,{command:"kubectl hns describe "+e.name})),e.excluded&&t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),
t(I,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,L(e.problems.length,"problem")),t(_e,{list:e.problems})),t("div",{class:"col\
umns"},t("section",{"aria-labelledby":"policy"},t("h2",{id:"policy"},"Policy"),s.map(i=>t(Kn,{key:i,namespace:e.name,resource:i,version:n})),a),t("div",null,t(Wn,
{ns:e}),t(Gn,{ns:e,version:n}),t(qn,{ns:e}),t(zn,{namespace:e.name,version:n}))))}function Kn({namespace:e,resource:n,version:s}){let a=M(`/api/namespaces/${e}/\
objects/${encodeURIComponent(n)}`,s),[o,...i]=n.split("."),l=a.data?.items??[],[p,d]=D(l),f=l.filter(m=>m.state!=="Absent").length;return t("section",{class:"ki\
nd","aria-label":n},t("h3",null,t("span",null,o),i.length>0&&t("small",{class:"dim"},i.join(".")),t("span",{class:"grow"}),a.data&&t("small",{class:"dim"},f?L(f,
"object"):"none"),a.data?.mode&&t("span",{class:"tag"},a.data.mode)),t(ye,{from:a}),l.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,
"Name"),t("th",null,"Where it comes from"))),t("tbody",null,p.map(m=>t("tr",{key:m.name,class:m.state},t("td",null,t(S,{to:W(e,n,m.name)},m.name)),t("td",null,m.
state==="Copy"?t(y,null,"copied from ",t(S,{to:P(m.source)},m.source)):m.state==="Local"?t(y,null,"made here ",m.override&&t("span",{class:"tag"},"override")):t(
y,null,t("span",{class:"tag"},"not here")," is in ",t(S,{to:P(m.source)},m.source)," · ",t(S,{to:W(e,n,m.name)},"why not here?"))))))),d)}function Wn({ns:e}){let[
n,s]=D(e.children);return t("section",{class:"box","aria-labelledby":"children"},t("h2",{id:"children"},"Children ",t("small",{class:"dim"},e.children.length||"")),
e.children.length?t("ul",{class:"plain"},n.map(a=>t("li",{key:a.name},t(S,{to:P(a.name)},a.name)," ",t("span",{class:"dim"},a.subnamespace?"sub-namespace":""),a.
state&&a.state!=="Ok"&&t("span",{class:"tag bad"},a.state)))):t("p",{class:"dim"},"None."),s)}function Gn({ns:e,version:n}){let s=M("/api/quotas",n),a=s.data?Bt(
s.data.quotas,e.path):[];return!a.length&&!s.error&&!s.data?.notes?null:t("section",{class:"box","aria-labelledby":"limits","data-limits":!0},t("h2",{id:"limits"},
"Quotas: what is left"),t(ye,{from:s}),t("ul",{class:"plain limits"},a.map(({quota:o,limit:i})=>t("li",{key:i.resource},t(S,{to:"/quotas?"+new URLSearchParams({
resource:i.resource})},i.resource)," ",t(xe,{limit:i}),t("span",{class:"dim"},t("b",{class:ve(i.share)},i.used," of ",i.hard)," below ",o.namespace)))))}function qn({
ns:e}){let n=e.labelsFrom.filter(o=>!o.tree),s=e.labelsFrom.filter(o=>o.tree),a=o=>t("li",{key:o.key},t("code",null,o.key,"=",o.value),o.from&&t("span",{class:"\
dim"}," set by the hierarchy ",o.from===e.name?"here":t(y,null,"in ",t(S,{to:P(o.from)},o.from))));return t("section",{class:"box","aria-labelledby":"labels"},t(
"h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(a)):t("p",{class:"dim"},"None of its own."),s.length>0&&t("details",null,t("summary",null,s.length,
" set by its place in the tree"),t("ul",{class:"plain"},s.map(a))))}function zn({namespace:e,version:n}){let s=M(`/api/namespaces/${e}/events`,n),a=s.data?.items??
[],[o,i]=D(a,8);return t("section",{class:"box","aria-labelledby":"events"},t("h2",{id:"events"},"Events ",t("small",{class:"dim"},a.length||"")),t(ye,{from:s}),
o.length>0&&t("ul",{class:"plain events"},o.map((l,p)=>t("li",{key:p},t("span",{class:"tag "+(l.warning?"bad":"")},l.reason)," ",t("b",null,l.kind,"/",l.name),"\
 ",t("span",{class:"dim"},Ce(l.last),l.count>1&&` ×${l.count}`),t("br",null),t("span",{class:"message"},l.message)))),i,s.data&&!a.length&&t("p",{class:"dim"},
"None."))}var Yn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],Jn=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function Vt({name:e,version:n}){let[s,a]=ne(),o=s.get("verb")??"",i=s.get("resource")??"",l=o!==""&&i!=="",p=M(`/api/namespaces/${e}/access`+(l?"?"+
new URLSearchParams({verb:o,resource:i}):""),n);return O(`Access to ${e}`),t("main",null,t(We,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:f=>{f.
preventDefault();let m=new FormData(f.target);a({verb:String(m.get("verb")).trim(),resource:String(m.get("resource")).trim()})},key:o+" "+i,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",defaultValue:o,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-lab\
el":"Verb"})),t("input",{name:"resource",list:"resources",defaultValue:i,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"R\
esource"}),t("span",null,"in ",e,"?"),t("datalist",{id:"verbs"},Yn.map(f=>t("option",{key:f,value:f}))),t("datalist",{id:"resources"},Jn.map(f=>t("option",{key:f,
value:f}))),t("button",{class:"primary"},"Show"),l&&t("button",{type:"button",onClick:()=>a({})},"Show all grants"),t("span",{class:"grow"}),t($,{command:`kubec\
tl hns who ${e}`+(l?` ${he(o)} ${he(i)}`:"")})),t(N,{from:p},f=>t(Xn,{name:e,access:f,permission:l?`${o} ${i}`:""})))}var Ge=e=>e.subject.namespace?`${e.subject.
namespace}/${e.subject.name}`:e.subject.name;function Xn({name:e,access:n,permission:s}){let[a,o]=w(""),i=n.grants??[],l=i.filter(r=>(Ge(r)+" "+r.role).toLowerCase().
includes(a.trim().toLowerCase())),p=l.filter(r=>!r.unknown),d=p.filter(r=>r.at),f=p.filter(r=>!r.at),m=l.filter(r=>r.unknown),c=new Set(i.filter(r=>!r.unknown).
map(r=>r.subject.kind+" "+Ge(r))).size,u=()=>Te(`access-${e}.csv`,"text/csv",Qt([["kind","subject","role","binding","set in","only","known"],...l.map(r=>[r.subject.
kind,Ge(r),r.role,r.binding,r.at??"(cluster)",(r.names??[]).join(" "),r.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},
s?`${L(c,"subject")} can ${s} in ${e}`:`${L(c,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","\
aria-label":"Filter by subject or role",value:a,onInput:r=>o(r.target.value)}),t("button",{onClick:u,disabled:!l.length},"CSV")),t(I,{list:n.notes}),t(rt,{title:"\
By bindings in the namespace and its ancestors",name:e,grants:d,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(rt,{title:"In the\
 whole cluster",name:e,grants:f,open:d.length===0&&s!==""}),t(rt,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:m,open:!0}),
t("p",{class:"dim"},"As RBAC grants it. Members of the group system:masters may do everything."))}function rt({title:e,name:n,grants:s,open:a,empty:o}){let[i,l]=D(
s);return!s.length&&!o?null:t("details",{class:"box fold",open:a},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"\
list"},t("thead",null,t("tr",null,t("th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,i.map((p,d)=>t("tr",{
key:d},t("td",null,t("span",{class:"dim"},p.subject.kind)," ",t("b",null,Ge(p))),t("td",{"data-label":"Role"},p.role,p.names&&t("span",{class:"dim"}," only ",p.
names.join(", "))),t("td",{"data-label":"Binding"},p.binding.startsWith("RoleBinding/")?t(S,{to:W(n,"rolebindings.rbac.authorization.k8s.io",p.binding.slice(12))},
p.binding):p.binding),t("td",{"data-label":"Set in"},p.at?p.at===n?"here":t(S,{to:P(p.at)},p.at):"the cluster"))))):t("p",{class:"dim"},o),l)}var Zn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function tn({version:e}){let n=M("/api/administration",e),[s,a]=w(0),o=M("/api/checks",s);return O("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(N,{from:n},i=>t(Vn,{a:i})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>a(i=>i+1)},"Check again"),t($,{command:"kubectl hns doctor"})),t(N,{from:o},
i=>t(es,{list:i}))))}function Vn({a:e}){return t(y,null,t(I,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,L(e.problems.length,
"problem")),t(_e,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t($,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},Zn[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hns-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(y,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t($,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},L(n.objects,"object"),n.applied&&t(y,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(y,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var en=["error","warning","unknown","ok"];function es({list:e}){let n=[...e].sort((l,p)=>en.indexOf(
l.severity)-en.indexOf(p.severity)),s=n.filter(l=>l.severity==="error"||l.severity==="warning"),a=n.filter(l=>l.severity==="unknown"),o=n.filter(l=>l.severity===
"ok"),i=l=>t("ul",{class:"plain checks"},l.map((p,d)=>t("li",{key:d,class:p.severity},t("span",{class:"tag "+(p.severity==="ok"?"":p.severity==="unknown"?"warn":
"bad")},p.severity),t("span",null,t("b",null,p.subject)," ",p.text,p.hint&&t("p",{class:"hint"},p.hint)))));return t(y,null,s.length?i(s):t("p",{class:o.length?
"good":"dim"},o.length," of ",L(e.length,"check")," without findings."),a.length>0&&t("details",null,t("summary",null,L(a.length,"check")," for which you lack p\
ermissions"),i(a)),o.length>0&&t("details",null,t("summary",null,L(o.length,"check")," without findings"),i(o)))}var X={text:"#1b2330",line:"#c3cad4",node:"#2251b8",bad:"#a8231b",back:"#ffffff"};function nn({roots:e,filter:n,isExpanded:s}){let a=B(null),[o,i]=w(""),l=be(e,
n,s),{nodes:p,width:d,height:f}=V(()=>Wt(l.slice(0,Ke)),[l.length,e,n]),m=()=>new XMLSerializer().serializeToString(a.current),c=()=>Te("forest.svg","image/svg+\
xml",m()),u=async()=>{try{let r=new Image;r.src="data:image/svg+xml;charset=utf-8,"+encodeURIComponent(m()),await r.decode();let b=Math.min(2,16e3/Math.max(d,f)),
h=document.createElement("canvas");h.width=d*b,h.height=f*b,h.getContext("2d").drawImage(r,0,0,h.width,h.height),h.toBlob(_=>_?Te("forest.png","image/png",_):i(
"The drawing is too large for a PNG. Save it as SVG."))}catch{i("The browser cannot make a PNG of the drawing. Save it as SVG.")}};return t("section",{class:"bo\
x drawing","aria-label":"Drawing of the forest"},t("div",{class:"tools"},t("span",{class:"dim",role:"status"},o||(l.length>Ke?`The first ${L(Ke,"namespace")} of\
 ${l.length}: collapse trees in the table, or filter`:L(l.length,"namespace"))),t("span",{class:"grow"}),t("button",{onClick:c},"Save SVG"),t("button",{onClick:u},
"Save PNG")),t("div",{class:"canvas",tabIndex:0,role:"group","aria-label":"Drawing, scrollable"},t("svg",{ref:a,xmlns:"http://www.w3.org/2000/svg",width:d,height:f,
viewBox:`0 0 ${d} ${f}`,role:"group","aria-label":`${L(p.length,"namespace")} as trees`,"font-family":"system-ui, sans-serif","font-size":"13"},t("rect",{width:d,
height:f,fill:X.back,class:"back"}),p.map(r=>r.parent&&t("path",{key:"to "+r.name,d:`M${r.parent.end} ${r.parent.y}H${r.x-38}C${r.x-20} ${r.parent.y} ${r.x-26} ${r.
y} ${r.x-8} ${r.y}`,fill:"none",stroke:X.line,class:"edge"})),p.map(r=>t("a",{key:r.name,href:P(r.name),class:r.node.member.problems?.length?"bad":"",onClick:b=>{
b.preventDefault(),te(P(r.name))},"data-namespace":r.name},t("title",null,r.title),t("circle",{cx:r.x,cy:r.y,r:5,fill:r.node.member.problems?.length?X.bad:r.node.
member.kind==="full"?X.node:X.back,stroke:r.node.member.problems?.length?X.bad:X.node,"stroke-width":"2"}),t("text",{x:r.x+11,y:r.y+4.5,fill:r.node.member.problems?.
length?X.bad:X.text,"font-weight":r.node.member.problems?.length?"bold":"normal"},r.label))))),t("p",{class:"dim"},"A filled circle is a full namespace, an open\
 one a sub-namespace; red ones have problems."))}var Z=30,ts=200,sn=4,an=6,it=new Map,lt={text:"",problems:!1},on="",rn="";function ln({version:e,tick:n}){let s=Y(G);O("Forest");let a=M("/api/quotas",e);return t(
"main",{class:"forest"},!s.data&&t("div",{class:"head"},t("h1",null,"Forest")),t(N,{from:s},o=>t(ss,{forest:o,roots:s.roots,quotas:a,tick:n})))}function ns(e,n){
let s=new Map;for(let a of e)for(let o of a.limits)(!n||o.resource===n)&&!(s.get(a.namespace)?.share>=o.share)&&s.set(a.namespace,o);return s}function ss({forest:e,
roots:n,quotas:s,tick:a}){let o=s.data?.quotas,[i,l]=w(on),p=x=>{on=x,l(x)},d=V(()=>[...new Set(o?.flatMap(x=>x.limits.map(H=>H.resource)))].sort(),[o]),f=V(()=>o?.
length?ns(o,i):void 0,[o,i]),[m,c]=ne(),u=m.get("view")==="drawing",[r,b]=w(lt),[h,_]=w(!!lt.mine),E=M("/api/mine",a,!h);U(()=>T({...r,mine:h&&E.data?new Set(E.
data):void 0}),[h,E.data]);let T=x=>{lt=x,b(x)},[,v]=w(0),k=e.namespaces.length<=ts,Q=x=>it.get(x.member.name)??(k||x.problems>(x.member.problems?.length??0)),K=be(
n,r,Q),q=e.namespaces.filter(x=>x.problems?.length),qe=(x,H)=>{it.set(x.member.name,H),v(fn=>fn+1)},ce=x=>{for(let H of e.namespaces)it.set(H.name,x);v(H=>H+1)};
return t("div",null,t("div",{class:"head"},t("h1",null,"Forest"),t("p",{class:"summary"},L(e.namespaces.length,"namespace")," in ",L(n.length,"tree"),q.length?t(
y,null," · ",t("b",{class:"bad"},L(q.length,"namespace")," with problems"),": ",q.slice(0,sn).map(x=>t(y,null,t(S,{to:P(x.name),key:x.name},x.name)," ")),q.length>
sn&&"…"):!e.partial&&t(y,null," · ",t("span",{class:"good"},"no problems"))),t($,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),
t(ye,{from:s,what:"Quotas: "}),t("div",{class:"tools"},t("input",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by na\
me, or by label=value",value:r.text,onInput:x=>T({...r,text:x.target.value}),spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"check\
box",checked:r.problems,onChange:x=>T({...r,problems:x.target.checked})})," With problems"),t("label",{class:"check",title:"Namespaces that you may get by a rol\
e in them"},t("input",{type:"checkbox",checked:h,onChange:x=>_(x.target.checked)})," Mine"),t("span",{class:"grow"}),t("span",{class:"views",role:"group","aria-\
label":"View"},[["","Table"],["drawing","Drawing"]].map(([x,H])=>t("button",{key:x,"aria-pressed":u===(x==="drawing"),onClick:()=>c(x?{view:x}:{})},H))),!u&&d.length>
0&&t("label",null,"Quota of ",t("select",{value:i,onChange:x=>p(x.target.value)},t("option",{value:""},"the fullest"),d.filter((x,H)=>H<le||x===i).map(x=>t("opt\
ion",{key:x,value:x},x)))),t("button",{onClick:()=>ce(!0),disabled:ge(r)},"Expand all"),t("button",{onClick:()=>ce(!1),disabled:ge(r)},"Collapse all")),h&&E.error&&
t(se,{problem:E.error.problem}),u&&K.length?t(nn,{roots:n,filter:r,isExpanded:Q}):K.length?t(as,{list:K,toggle:qe,filter:r,limits:f}):t("p",{class:"dim box",role:"\
status"},ge(r)?"No namespace matches the filter.":"There are no namespaces that you may see."))}function as({list:e,toggle:n,filter:s,limits:a}){let o=ge(s),i=B(
null),[l,p]=w({top:0,height:800}),[d,f]=w(rn),m=v=>{rn=v,f(v)},c=Math.max(0,e.findIndex(v=>v.node.member.name===d));U(()=>b(c),[]),U(()=>{o&&(i.current.scrollTop=
0)},[s.text,s.problems,!!s.mine]);let u=()=>{let v=i.current;v&&p({top:v.scrollTop,height:v.clientHeight})};U(()=>(u(),addEventListener("resize",u),()=>removeEventListener(
"resize",u)),[e.length]);let r=v=>{v=Math.max(0,Math.min(e.length-1,v)),m(e[v].node.member.name),b(v)},b=v=>{let k=i.current;v*Z<k.scrollTop&&(k.scrollTop=v*Z),
(v+1)*Z>k.scrollTop+k.clientHeight&&(k.scrollTop=(v+1)*Z-k.clientHeight)},h=v=>{let k=e[c],Q=Math.max(1,Math.floor(l.height/Z)-1);if(!(v.ctrlKey||v.metaKey||v.altKey)){
switch(v.key){case"ArrowDown":r(c+1);break;case"ArrowUp":r(c-1);break;case"PageDown":r(c+Q);break;case"PageUp":r(c-Q);break;case"Home":r(0);break;case"End":r(e.
length-1);break;case"ArrowRight":k.expanded?r(c+1):k.node.children.length&&!o&&n(k.node,!0);break;case"ArrowLeft":k.expanded&&!o?n(k.node,!1):k.parent>=0&&r(k.parent);
break;case"Enter":te(P(k.node.member.name));break;default:return}v.preventDefault()}},_=Math.max(0,Math.floor(l.top/Z)-10),E=Math.min(e.length,Math.ceil((l.top+
l.height)/Z)+10),T=e.slice(_,E);return t("div",{class:"grid"+(a?" limited":""),role:"treegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readon\
ly":"true",tabIndex:0,onKeyDown:h,"aria-activedescendant":c>=_&&c<E?"row-"+e[c].node.member.name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},
t("span",{role:"columnheader"},"Namespace"),t("span",{role:"columnheader"},"Problems"),a&&t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"c\
olumnheader",class:"wide"},"Kind"),t("span",{role:"columnheader",class:"num wide",title:"Namespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},
"Age")),t("div",{class:"rows",role:"rowgroup",ref:i,onScroll:u,tabIndex:-1},t("div",{role:"presentation",style:{height:e.length*Z+"px",position:"relative"}},T.map(
(v,k)=>t(os,{key:v.node.member.name,row:v,index:_+k,active:_+k===c,fixed:o,choose:()=>m(v.node.member.name),toggle:n,limits:a})))))}function os({row:e,index:n,active:s,
fixed:a,choose:o,toggle:i,limits:l}){let{node:p,depth:d,expanded:f}=e,{member:m,children:c}=p,u=m.problems?.length??0,r=p.problems-u,b=l?.get(m.name);return t("\
div",{id:"row-"+m.name,role:"row",class:"row"+(s?" active":"")+(u?" troubled":""),"aria-level":d+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.
siblings,"aria-expanded":c.length?f:void 0,style:{top:n*Z+"px","--depth":Math.min(d,an)},onMouseDown:o,draggable:!0,onDragStart:h=>h.dataTransfer.setData("text/\
x-namespace",m.name),onDragOver:h=>{h.dataTransfer.types.includes("text/x-namespace")&&h.preventDefault()},onDrop:h=>{h.preventDefault();let _=h.dataTransfer.getData(
"text/x-namespace");_&&_!==m.name&&te("/plan?"+new URLSearchParams({namespace:_,change:"move",parent:m.name}))}},t("span",{role:"gridcell",class:"name"},c.length?
t("button",{class:"twist",tabIndex:-1,"aria-hidden":"true",disabled:a,onClick:()=>i(p,!f)},f?"▾":"▸"):t("span",{class:"twist"}),d>an&&t("span",{class:"dim l\
evel",title:"Level in the tree"},d+1),t(S,{to:P(m.name),tabIndex:-1,title:m.name},m.name),m.deleting&&t("span",{class:"tag"},"deleting")),t("span",{role:"gridce\
ll",class:"what"},u?t("span",{class:"problem",title:m.problems.map(h=>`${ee(h.type)}: ${h.message}`).join(`
`)},t("b",null,ee(m.problems[0].reason))," ",t("span",{class:"wide"},m.problems[0].message),u>1&&` +${u-1}`):r&&!f?t("span",{class:"problem below"},r," below"):
null),l&&t("span",{role:"gridcell",class:"quota wide"},b&&t(S,{to:"/quotas",tabIndex:-1,title:`${b.resource}: ${b.used} of ${b.hard}`},t(xe,{limit:b})," ",t("sp\
an",{class:ve(b.share)},b.used,"/",b.hard)," ",t("span",{class:"dim"},b.resource))),t("span",{role:"gridcell",class:"dim wide"},m.kind==="full"?"":m.kind),t("sp\
an",{role:"gridcell",class:"num dim wide"},p.descendants||""),t("span",{role:"gridcell",class:"num dim"},Ce(m.created)))}function cn({version:e,...n}){let{namespace:s,resource:a,name:o}=n,i=`/api/namespaces/${s}/objects/${encodeURIComponent(a)}/${encodeURIComponent(o)}`,l=M(i,e),p=l.
data&&l.data.state!=="Absent";return O(`${o} in ${s}`),t("main",null,t(ot,{names:Pe(s),object:o}),t("div",{class:"head"},t("h1",null,o),t("p",{class:"summary"},
a," in ",s),t($,{command:`kubectl hns why ${he(`${a}/${o}`)} -n ${s}`})),t(N,{from:l},d=>t(rs,{a:d,place:n})),p&&t(is,{path:i+"/content",version:e,place:n}))}function rs({
a:e,place:n}){let s={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in ${e.namespace}.`}[e.state];
return t("div",{class:"story"},t("section",{class:"box","data-state":e.state},t("h2",null,s),t("ul",null,e.because.map(a=>t("li",{key:a,class:"message"},a)))),t(
"section",{"aria-labelledby":"way"},t("h2",{id:"way"},"From the root to ",e.namespace),t("ol",{class:"way"},[...e.levels].reverse().map(a=>{let o=a.namespace===
e.namespace,i=a.namespace===e.source;return t("li",{key:a.namespace,class:i?"source":a.state==="Local"?"Local":o?"here "+e.state:a.state},t(S,{to:a.state&&a.state!==
"Absent"&&!o?W(a.namespace,n.resource,n.name):P(a.namespace)},a.namespace)," ",t("span",{class:"dim"},a.unread?`not known: ${a.unread}`:i?"the source":a.state===
"Copy"?`a copy${a.source===e.source?"":` of ${a.source}`}`:a.state==="Local"?"made here":"not here"),a.mode&&a.mode!=="Propagate"&&t("span",{class:"tag",title:"\
How objects of the kind are propagated from here"},a.mode))}))))}function is({path:e,version:n,place:s}){let a=M(e,n);return t(N,{from:a},o=>t(y,null,t(I,{list:o.
notes}),o.source&&!o.difference&&!o.notes&&t("p",{class:"dim"},"It is equal to its source, apart from what the server sets."),o.difference&&t("details",{class:"\
box fold"},t("summary",null,t("h2",null,"Difference from the source in ",o.source)),t(Me,{text:o.difference})),o.overwritten&&t("details",{class:"box fold",open:!0,
"data-overwritten":!0},t("summary",null,t("h2",null,"What it has overwritten")),t("p",{class:"dim"},"An ancestor's object replaced one that was made here. Remov\
ed lines are those of the former."),t(Me,{text:o.overwritten}),t($,{command:`kubectl hns why ${he(`${s.resource}/${s.name}`)} -n ${s.namespace} --overwritten`})),
t("details",{class:"box fold","data-yaml":!0},t("summary",null,t("h2",null,"YAML")),t("div",{class:"tools"},t("span",{class:"grow"}),t(Gt,{text:o.manifest,title:"\
Copy as YAML"})),t("pre",{class:"yaml",tabIndex:0,role:"group","aria-label":"YAML"},o.manifest))))}var Ae={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of\
 a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},
forbid:{title:"Forbid cascading deletion",fields:[],write:!0}},pn={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},ls=["Propagate",
"AllowPropagate","Remove","Ignore"],cs=2e3;function mn({version:e}){let[n,s]=ne(),a=M("/api/session",0),o=Y(G),i=Object.fromEntries(n),l=Object.hasOwn(Ae,i.change),
[p,d]=w(l?i.change:"move");U(()=>{l&&d(i.change)},[i.change]),O(i.namespace?`Plan for ${i.namespace}`:"Plan");let f=i.namespace&&l&&Ae[i.change].fields.every(r=>i[r]),
m=r=>{r.preventDefault();let b=new FormData(r.target);s(Object.fromEntries(["namespace","change",...Ae[p].fields].map(h=>[h,String(b.get(h)).trim()])))},c=(o.data?.
namespaces??[]).slice(0,cs),u=(r,b)=>t("input",{key:r,name:r,"aria-label":pn[r]??"Namespace",placeholder:pn[r]??"Namespace",list:b,defaultValue:i[r]??"",required:!0,
autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would do. Looking at i\
t changes nothing.")),t("form",{class:"tools ask box",onSubmit:m,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",u("namespace","namespaces")),t(
"select",{name:"change","aria-label":"Change",value:p,onChange:r=>d(r.target.value)},Object.entries(Ae).filter(([,r])=>!r.write||a.data?.write).map(([r,b])=>t("\
option",{key:r,value:r},b.title))),Ae[p].fields.map(r=>r==="mode"?t("select",{key:r,name:r,"aria-label":"Mode"},ls.map(b=>t("option",{key:b,value:b,selected:b===
i.mode},b))):u(r,r==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},c.map(r=>t("option",{key:r.name,value:r.name}))),t("button",{class:"primary"},
"Preview")),f&&t(ps,{key:n.toString(),fields:i,version:e,session:a.data}))}function ps({fields:e,version:n,session:s}){let[a,o]=w(!1),[i,l]=w(0),{namespace:p,...d}=e,
f=M(`/api/namespaces/${encodeURIComponent(p)}/plan?`+new URLSearchParams(d),n+i,a);return a?t("p",{class:"box good",role:"status"},"Done. ",e.change==="delete"?
"The namespace is being deleted.":"Copies follow within seconds."," ",t(S,{to:e.change==="delete"?"/":P(e.child??p)},e.change==="delete"?"Forest":e.child??p)):t(
N,{from:f},m=>t(us,{plan:m,fields:e,write:!!s?.write,done:()=>o(!0),changed:()=>l(c=>c+1)}))}function us(e){let{plan:n,fields:s}=e,a=n.status,o=a.namespaces??[],
[i,l]=D(o,50),p=Kt(o),[d,f]=D(p),m=a.hidden?.map(c=>c.group?`${c.resource}.${c.group}`:c.resource);return t("div",{"data-plan":s.change},a.refusals?.map(c=>t("s\
ection",{class:"box bad",role:"alert",key:c.message},t("h2",null,"It would be refused: ",c.reason),t("p",{class:"message"},c.message))),t("section",{class:"box"},
t("div",{class:"head"},t("div",{role:"status"},t("h2",null,n.summary)),t("span",{class:"grow"}),n.see&&t($,{command:n.see})),a.exceededQuotas&&t(y,null,t("h3",{
class:"bad"},"Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",
{class:"num"},"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,a.exceededQuotas.map(c=>t("tr",{key:c.namespace+c.name+c.resource},
t("td",null,c.namespace,"/",c.name),t("td",null,c.resource),t("td",{class:"num","data-label":"Used"},c.used),t("td",{class:"num","data-label":"Moved"},c.moved),
t("td",{class:"num","data-label":"Limit"},c.limit)))))),!!a.omittedExceededQuotas&&t("p",{class:"note"},L(a.omittedExceededQuotas,"limit")," more would be excee\
ded, of quotas that you may not get, or that are too many."),p.length>0&&t(y,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},d.map(c=>t("li",{key:c.
text},t("span",{class:"mark "+c.change},c.change==="Gained"?"+":"−"),c.text," ",t("span",{class:"dim"},"in ",c.namespaces.length>3?L(c.namespaces.length,"name\
space"):c.namespaces.join(", "))))),f)),t(I,{list:[...m?[`Left out, because you may not list them in ${s.namespace}: ${m.join(", ")}`]:[],...(a.unknown??[]).map(
c=>"Not known: "+c)]}),i.map(c=>t(ds,{key:c.name,plan:c,open:o.length<=5})),l,t(fs,{...e}))}var ms={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},un={
Add:"added",Change:"changed",Overwrite:"overwritten",Remove:"removed",Keep:"kept"};function ds({plan:e,open:n}){let s=e.objects??[],[a,o]=D(s),i=Object.entries(
un).map(([l,p])=>[s.filter(d=>d.action===l).length,p]).filter(([l])=>l);return t("details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t(
"h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},e.fate.toLowerCase())," ",t("span",{class:"dim"},i.map(([l,p])=>`${l} ${p}`).join(", "))),t("ul",{class:"\
plain"},e.labels?.map(l=>t("li",{key:l.key},t("span",{class:"mark"},"~"),"label ",t("code",null,l.key),": ",l.before||"none"," → ",l.after||"none")),e.quotas?.
map(l=>t("li",{key:l.name+l.resource,class:"bad"},t("span",{class:"mark"},"!"),"ResourceQuota ",l.name," allows ",l.hard," of ",l.resource,", and there would be\
 ",l.planned)),a.map(l=>t("li",{key:l.group+l.kind+l.name},t("span",{class:"mark "+l.action},ms[l.action]),t("span",{class:"hidden"},un[l.action],": "),l.kind,"\
/",l.name,l.source&&t("span",{class:"dim"}," from ",l.source),l.difference&&t("details",null,t("summary",null,"difference"),t(Me,{text:l.difference}))))),o)}function fs({
plan:e,fields:n,write:s,done:a,changed:o}){let i=B(null),[l,p]=w(e),[d,f]=w(""),[m,c]=w(!1),[u,r]=w(),b=n.change==="delete",{namespace:h,..._}=n,E=async T=>{T.preventDefault(),
c(!0),r(void 0);try{await Nt(`/api/namespaces/${encodeURIComponent(h)}/changes`,{..._,confirm:d,plan:l.digest}),a()}catch(v){r(v),c(!1),v.status===409&&o()}};return e.
status.refusals?.length?null:t("section",{class:"box","aria-labelledby":"make"},t("div",{class:"head"},t("h2",{id:"make"},"Make the change"),t("span",{class:"gr\
ow"}),t($,{command:e.make})),s?e.writable?t("button",{class:b?"danger":"primary",onClick:()=>{p(e),i.current.showModal()}},"Apply …"):t("p",{class:"dim"},"The\
 page does not make this change. Run the command."):t("p",{class:"dim"},"The page is read-only. Run the command, or start the page with ",t("code",null,"kubectl\
 hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:i,"aria-labelledby":"confirm",onClose:()=>{f(""),r(void 0)}},t("form",{onSubmit:E},t("h2",{id:"confirm"},l.
summary.replace(" would "," will ")),t("p",null,t("code",null,l.make)),b&&t("p",null,t("label",null,"What is in it is lost. Type its name to delete it: ",t("inp\
ut",{value:d,onInput:T=>f(T.target.value),"aria-label":"Name of the namespace",autocomplete:"off",spellcheck:!1}))),u&&t(se,{problem:u.problem}),t("div",{class:"\
tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>i.current.close()},"Cancel"),t("button",{class:b?"danger":"primary",disabled:m||b&&d!==h},
m?"Applying …":"Apply")))))}var gs={connecting:"Connecting",live:"Live",lost:"Not connected"},bs=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],hs=15e3;
function ys(){let[e,n]=w(location.pathname),[,s]=w(location.search),[a,o]=w(0),[i,l]=Dt(),p=M("/api/session",0),d=zt(l);U(()=>{let c=()=>{n(location.pathname),s(
location.search)},u=setInterval(()=>document.hidden||o(b=>b+1),hs),r=b=>{b.key!=="/"||b.ctrlKey||b.metaKey||b.altKey||b.target.matches?.("input, textarea, selec\
t")||(b.preventDefault(),location.pathname!=="/"&&te("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",c),addEventListener(
"keydown",r),()=>{clearInterval(u),removeEventListener("popstate",c),removeEventListener("keydown",r)}},[]);let f=B(e);U(()=>{let c=document.querySelector("main");
!c||e===f.current||(f.current="",c.tabIndex=-1,c.focus({preventScroll:!0}))},[e]);let m=p.data;return t(y,null,t("header",null,t(S,{to:"/",class:"brand"},t("img",
{src:"/icon.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},bs.map(([c,u])=>t(S,{key:c,to:c,"aria-current":e===
c?"page":void 0},u))),t("span",{class:"context"},m&&t(y,null,t("b",{title:"Cluster "+m.cluster},m.context||"no context"),t("span",{class:"dim"}," ",m.user))),t(
"span",{class:"grow"}),m&&t("span",{class:"wide tag"+(m.write?" warn":"")},m.write?"may write":"read-only"),t("span",{class:"state "+i,role:"status"},gs[i])),p.
error?.status===401?t("main",null,t(se,{problem:p.error.problem})):t(G.Provider,{value:d},t("div",{class:e==="/"?"":"beside"},t(_s,{key:e,path:e,version:l,tick:l+
a}),e!=="/"&&t(Yt,{name:e.startsWith("/ns/")?dn(e)[1]:""}))))}var dn=e=>e.split("/").slice(1).map(n=>{try{return decodeURIComponent(n)}catch{return n}});function _s({
path:e,version:n,tick:s}){let a=dn(e);if(e==="/")return t(ln,{version:n,tick:s});if(e==="/quotas")return t(Jt,{version:n});if(e==="/plan")return t(mn,{version:s});
if(e==="/admin")return t(tn,{version:s});if(a[0]==="ns"&&a[1]){if(a.length===2)return t(Zt,{name:a[1],version:s});if(a.length===3&&a[2]==="access")return t(Vt,{
name:a[1],version:s});if(a.length===4)return t(cn,{namespace:a[1],resource:a[2],name:a[3],version:s})}return t("main",null,t("h1",{class:"hidden"},"No such page"),
t(se,{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}Ut();Ve(t(ys,null),document.getElementById("app"));
