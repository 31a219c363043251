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
var we="http://www.w3.org/2000/svg",Fe="http://www.w3.org/1999/xhtml",et="http://www.w3.org/1998/Math/MathML";var te={},ne=[],tt=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var re=Array.isArray;function O(e,n){for(let s in n)e[s]=n[s];return e}function Ee(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var se=ne.slice;function nt(e,n,s,a){let o,r,l;for(;n=n._parent;)if((o=n._component)&&!o._processingException)try{if(r=o.constructor,r&&r.getDerivedStateFromError!=null&&(o.setState(
r.getDerivedStateFromError(e)),l=o._dirty),o.componentDidCatch!=null&&(o.componentDidCatch(e,a||{}),l=o._dirty),l)return o._pendingError=o}catch(m){e=m}throw e}var Vt={_catchError:nt},w=Vt;var en=0;function t(e,n,s){let a={},o,r,l;for(l in n)l=="key"?o=n[l]:l=="ref"?r=n[l]:a[l]=n[l];if(arguments.length>2&&(a.children=arguments.length>3?se.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)a[l]===void 0&&(a[l]=e.defaultProps[l]);return ie(e,a,o,r,null)}function ie(e,n,s,a,o){
let r={type:e,props:n,key:s,ref:a,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:o==null?++en:o,_index:-1,_flags:0};
return o==null&&w.vnode!=null&&w.vnode(r),r}function b(e){return e.children}function le(e,n){this.props=e,this.context=n}le.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=O({},this.state),typeof e=="function"&&(e=e(O({},s),this.props)),e&&O(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),Ie(this))};le.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Ie(this))};le.prototype.render=b;function K(e,n){if(n==null)return e._parent?
K(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?K(e):null}
function tn(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,a=[],o=[],r=O({},n);r._original=n._original+1,w.vnode&&w.vnode(r),ce(e._parentDom,r,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,a,s==null?K(n):s,!!(n._flags&32),o),r._original=n._original,r._parent._children[r._index]=r,Se(a,r,o),n._dom=n._parent=
null,r._dom!=s&&st(r)}}function st(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),st(e)}var ae=[],Oe,nn=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Ie(e){
(!e._dirty&&(e._dirty=!0)&&ae.push(e)&&!Ce._rerenderCount++||Oe!=w.debounceRendering)&&(Oe=w.debounceRendering,(Oe||nn)(Ce))}var sn=(e,n)=>e._vnode._depth-n._vnode.
_depth;function Ce(){try{let e,n=1;for(;ae.length;)ae.length>n&&ae.sort(sn),e=ae.shift(),n=ae.length,tn(e)}finally{ae.length=Ce._rerenderCount=0}}Ce._rerenderCount=
0;function He(e,n,s,a,o,r,l,m,d,f,p){let c,u,i,y,h,_=a&&a._children||ne,P=n.length;for(d=an(s,n,_,d,P),c=0;c<P;c++){if(i=s._children[c],i==null)continue;u=i._index!=
-1&&_[i._index]||te,i._index=c;let R=ce(e,i,u,o,r,l,m,d,f,p);y=i._dom,i.ref&&u.ref!=i.ref&&(u.ref&&Pe(u.ref,null,i),p.push(i.ref,i._component||y,i)),h==null&&y!=
null&&(h=y),i._flags&4?(d=at(i,d,e),u._dom&&(u._dom=null)):typeof i.type=="function"&&R!==void 0?d=R:y&&(d=y.nextSibling),i._flags&=-7}return s._dom=h,d}function an(e,n,s,a,o){
let r,l,m,d=s.length,f=d,p=0;for(e._children=new Array(o),r=0;r<o;r++){if(l=n[r],l==null||typeof l=="boolean"||typeof l=="function"){e._children[r]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[r]=ie(null,l,null,null,null):re(l)?l=e._children[r]=ie(b,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[r]=ie(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[r]=l;let c=r+p;l._parent=e,
l._depth=e._depth+1;let u=l._index=on(l,s,c,f);m=null,u!=-1&&(m=s[u],f--,m&&(m._flags|=2)),m==null||m._original==null?(u==-1&&(o>d?p--:o<d&&p++),typeof l.type!=
"function"&&(l._flags|=4)):u!=c&&(u==c-1?p--:u==c+1?p++:(u>c?p--:p++,l._flags|=4))}if(f)for(r=0;r<d;r++)m=s[r],m!=null&&(m._flags&2)==0&&(m._dom==a&&(a=K(m)),Be(
m,m));return a}function at(e,n,s){if(typeof e.type=="function"){let a=e._children;for(let o=0;a&&o<a.length;o++)a[o]&&(a[o]._parent=e,n=at(a[o],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=K(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function on(e,n,s,a){let o=e.key,r=e.type,l=n[s],m=l!=null&&(l._flags&2)==0,d=a>(m?1:0);if(l===null&&o==null||m&&o==l.key&&r==l.type)return s;if(d){let f=s-1,p=s+
1;for(;f>=0||p<n.length;){let c=f>=0?f--:p++;if(l=n[c],l!=null&&(l._flags&2)==0&&o==l.key&&r==l.type)return c}}return-1}var lt=Math.random().toString(8),Qe="__d"+lt,Te="__a"+lt;function ot(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||tt.test(
n)?e[n]=s:e[n]=s+"px"}var rn=/(PointerCapture)$|Capture$/i,ct=0;function be(e,n,s,a,o){let r;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof a==
"string"&&(e.style.cssText=a=""),a)for(n in a)s&&n in s||ot(e.style,n,"");if(s)for(n in s)(!a||s[n]!=a[n])&&ot(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){r=n!=
(n=n.replace(rn,"$1"));let l=n.toLowerCase();l in e||n=="onFocusOut"||n=="onFocusIn"?n=l.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+r]=
s,s?a?s[Te]=a[Te]:(s[Te]=ct,e.addEventListener(n,r?it:rt,r)):e.removeEventListener(n,r?it:rt,r)}else{if(o==we)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function pt(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[Qe]==null)n[Qe]=ct++;else if(n[Qe]<s[Te])return;return s(w.event?w.event(n):n)}}}var rt=pt(!1),it=pt(!0);function ce(e,n,s,a,o,r,l,m,d,f){let p,c=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(d=!!(s._flags&32),m=n._dom=s._dom,r=[m]),(p=w._diff)&&p(n);
e:if(typeof c=="function"){let u=l.length;try{let i,y,h,_,P,R,v=n.props,E=c.prototype&&c.prototype.render;p=c.contextType;let F=p&&a[p._id],Y=p?F?F.props.value:
p._defaultValue:a;if(s._component?(i=n._component=s._component,R=i._processingException=i._pendingError):(E?n._component=i=new c(v,Y):(n._component=i=new le(v,Y),
i.constructor=c,i.render=pn),F&&F.sub(i),i.state||(i.state={}),i._globalContext=a,y=i._dirty=!0,i._renderCallbacks=[],i._stateCallbacks=[]),E&&i._nextState==null&&
(i._nextState=i.state),E&&c.getDerivedStateFromProps!=null&&(i._nextState==i.state&&(i._nextState=O({},i._nextState)),O(i._nextState,c.getDerivedStateFromProps(
v,i._nextState))),h=i.props,_=i.state,i._vnode=n,y)E&&c.getDerivedStateFromProps==null&&i.componentWillMount!=null&&i.componentWillMount(),E&&i.componentDidMount!=
null&&i._renderCallbacks.push(i.componentDidMount);else{if(E&&c.getDerivedStateFromProps==null&&v!==h&&i.componentWillReceiveProps!=null&&i.componentWillReceiveProps(
v,Y),n._original==s._original||!i._force&&i.shouldComponentUpdate!=null&&i.shouldComponentUpdate(v,i._nextState,Y)===!1){n._original!=s._original&&(i.props=v,i.
state=i._nextState,i._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(ke=>{ke&&(ke._parent=n)}),ne.push.apply(i._renderCallbacks,i._stateCallbacks),
i._stateCallbacks=[],i._renderCallbacks.length&&l.push(i),m=K(s);break e}i.componentWillUpdate!=null&&i.componentWillUpdate(v,i._nextState,Y),E&&i.componentDidUpdate!=
null&&i._renderCallbacks.push(()=>{i.componentDidUpdate(h,_,P)})}i.context=Y,i.props=v,i._parentDom=e,i._force=!1;let ee=w._render,x=0;if(E)i.state=i._nextState,
i._dirty=!1,ee&&ee(n),p=i.render(i.props,i.state,i.context),ne.push.apply(i._renderCallbacks,i._stateCallbacks),i._stateCallbacks=[];else do i._dirty=!1,ee&&ee(
n),p=i.render(i.props,i.state,i.context),i.state=i._nextState;while(i._dirty&&++x<25);i.state=i._nextState,i.getChildContext!=null&&(a=O(O({},a),i.getChildContext())),
E&&!y&&i.getSnapshotBeforeUpdate!=null&&(P=i.getSnapshotBeforeUpdate(h,_));let j=p!=null&&p.type===b&&p.key==null?mt(p.props.children):p;m=He(e,re(j)?j:[j],n,s,
a,o,r,l,m,d,f),i.base=n._dom,n._flags&=-161,i._renderCallbacks.length&&l.push(i),R&&(i._pendingError=i._processingException=null)}catch(i){if(l.length=u,n._original=
null,d||r!=null){if(i.then){for(n._flags|=d?160:128;m&&m.nodeType==8&&m.nextSibling;)m=m.nextSibling;r!=null&&(r[r.indexOf(m)]=null),n._dom=m}else if(r!=null)for(let y=r.
length;y--;)Ee(r[y])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),i.then||ut(n),w._catchError(i,n,s)}}else r==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):m=n._dom=cn(s._dom,n,s,a,o,r,l,d,f);return(p=w.diffed)&&p(n),n._flags&128?void 0:m}function ut(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(ut))}function Se(e,n,s){for(let a=0;a<s.length;a++)Pe(s[a],s[++a],s[++a]);w._commit&&w._commit(n,e),e.some(a=>{try{e=a.
_renderCallbacks,a._renderCallbacks=[],e.some(o=>{o.call(a)})}catch(o){w._catchError(o,a._vnode)}})}function mt(e){return typeof e!="object"||e==null||e._depth>
0?e:re(e)?e.map(mt):e.constructor!==void 0?null:O({},e)}function cn(e,n,s,a,o,r,l,m,d){let f=s.props||te,p=n.props,c=n.type,u,i,y,h,_,P,R;if(c=="svg"?o=we:c=="m\
ath"?o=et:o||(o=Fe),r!=null){for(u=0;u<r.length;u++)if(_=r[u],_&&"setAttribute"in _==!!c&&(c?_.localName==c:_.nodeType==3)){e=_,r[u]=null;break}}if(e==null){if(c==
null)return document.createTextNode(p);e=document.createElementNS(o,c,p.is&&p),m&&(w._hydrationMismatch&&w._hydrationMismatch(n,r),m=!1),r=null}if(c==null)f!==p&&
(!m||e.data!=p)&&(e.data=p);else{if(r=c=="textarea"&&p.defaultValue!=null?null:r&&se.call(e.childNodes),!m&&r!=null)for(f={},u=0;u<e.attributes.length;u++)_=e.attributes[u],
f[_.name]=_.value;for(u in f)_=f[u],u=="dangerouslySetInnerHTML"?y=_:u!="children"&&!(u in p)&&!(u=="value"&&"defaultValue"in p)&&!(u=="checked"&&"defaultChecke\
d"in p)&&be(e,u,null,_,o);for(u in p)_=p[u],u=="children"?h=_:u=="dangerouslySetInnerHTML"?i=_:u=="value"?P=_:u=="checked"?R=_:(!m||typeof _=="function")&&f[u]!==
_&&be(e,u,_,f[u],o);if(i)!m&&(!y||i.__html!=y.__html&&i.__html!=e.innerHTML)&&(e.innerHTML=i.__html),n._children=[];else if(y&&(e.innerHTML=""),He(n.type=="temp\
late"?e.content:e,re(h)?h:[h],n,s,a,c=="foreignObject"?Fe:o,r,l,r?r[0]:s._children&&K(s,0),m,d),r!=null)for(u=r.length;u--;)Ee(r[u]);(!m||c=="textarea")&&(u="va\
lue",c=="progress"&&P==null?e.removeAttribute("value"):P!=void 0&&(P!==e[u]||c=="progress"&&!P||c=="option"&&P!=f[u])&&be(e,u,P,f[u],o),u="checked",R!=void 0&&R!=
e[u]&&be(e,u,R,f[u],o))}return e}function Pe(e,n,s){try{if(typeof e=="function"){let a=typeof e._unmount=="function";a&&e._unmount(),(!a||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(a){w._catchError(a,s)}}function Be(e,n,s){let a;if(w.unmount&&w.unmount(e),(a=e.ref)&&(!a.current||a.current==e._dom)&&Pe(a,null,n),
(a=e._component)!=null){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(o){w._catchError(o,n)}a.base=a._parentDom=a._globalContext=null}if(a=e._children)
for(let o=0;o<a.length;o++)a[o]&&Be(a[o],n,s||typeof e.type!="function");s||Ee(e._dom),e._component=e._parent=e._dom=void 0}function pn(e,n,s){return this.constructor(
e,s)}function Ke(e,n,s){n==document&&(n=document.documentElement),w._root&&w._root(e,n);let a=typeof s=="function",o=a?null:s&&s._children||n._children;e=(!a&&s||n).
_children=t(b,null,[e]);let r=[],l=[];ce(n,e,o||te,te,n.namespaceURI,!a&&s?[s]:o?null:n.firstChild?se.call(n.childNodes):null,r,!a&&s?s:o?o._dom:n.firstChild,a,
l),Se(r,e,l),e.props.children=null}var ye,M,We,Ae=0,vt=[],A=w,dt=A._diff,ft=A._render,gt=A.diffed,bt=A._commit,yt=A.unmount,_t=A._root,un=35,Ge;A._diff=e=>{M=null,dt&&dt(e)};A._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),_t&&_t(e,n)};A._render=e=>{ft&&ft(e),M=e._component,ye=0;let n=M.__hooks;n&&(We===M?(n._pendingEffects=
[],M._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(Re),n._pendingEffects.
some(Ye),n._pendingEffects=[],ye=0)),We=M};A.diffed=e=>{gt&&gt(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&gn(vt.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),We=M=null};A._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(Re),s._renderCallbacks=
s._renderCallbacks.filter(a=>a._value?Ye(a):!0)}catch(a){n.some(o=>{o._renderCallbacks&&(o._renderCallbacks=[])}),n=[],A._catchError(a,s._vnode)}}),bt&&bt(e,n)};
A.unmount=e=>{yt&&yt(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(a=>{try{Re(a)}catch(o){s=o}}),n.__hooks=void 0,s&&A._catchError(s,n._vnode)}};
function qe(e,n){A._hook&&A._hook(M,e,Ae||n),Ae=0;let s=M.__hooks||(M.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function k(e){return Ae=1,mn(kt,e)}function mn(e,n,s){let a=qe(ye++,2);if(a._reducer=e,!a._component&&(a._value=[s?s(n):kt(void 0,n),o=>{let r=a._nextValue?a._nextValue[0]:
a._value[0],l=a._reducer(r,o);r!==l&&(a._nextValue=[l,a._value[1]],a._component.setState({}))}],a._component=M,!M._hasScuFromHooks)){let l=function(m,d,f){if(!a.
_component.__hooks)return!0;let p=!1,c=a._component.props!==m;if(a._component.__hooks._list.some(u=>{if(u._nextValue){p=!0;let i=u._value[0];u._value=u._nextValue,
u._nextValue=void 0,i!==u._value[0]&&(c=!0)}}),o){let u=o.call(this,m,d,f);return p?u||c:u}return!p||c};M._hasScuFromHooks=!0;let o=M.shouldComponentUpdate,r=M.
componentWillUpdate;M.componentWillUpdate=function(m,d,f){if(this._force){let p=o;o=void 0,l(m,d,f),o=p}r&&r.call(this,m,d,f)},M.shouldComponentUpdate=l}return a.
_nextValue||a._value}function U(e,n){let s=qe(ye++,3);!A._skipEffects&&xt(s._args,n)&&(s._value=e,s._pendingArgs=n,M.__hooks._pendingEffects.push(s))}function B(e){return Ae=5,G(()=>({current:e}),[])}function G(e,n){let s=qe(ye++,7);return xt(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function dn(){let e;for(;e=vt.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(Re),n._pendingEffects.some(Ye),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],A._catchError(s,e._vnode)}}}var ht=typeof requestAnimationFrame=="function";function fn(e){let n=()=>{clearTimeout(s),ht&&cancelAnimationFrame(
a),setTimeout(e)},s=setTimeout(n,un),a;ht&&(a=requestAnimationFrame(n))}function gn(e){(e===1||Ge!==A.requestAnimationFrame)&&(Ge=A.requestAnimationFrame,(Ge||fn)(
dn))}function Re(e){let n=M,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),M=n}function Ye(e){let n=M;e._cleanup=e._value(),M=n}function xt(e,n){return!e||
e.length!==n.length||n.some((s,a)=>s!==e[a])}function kt(e,n){return typeof n=="function"?n(e):n}var wt="hns-token";function Et(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(wt,e),history.replaceState(null,"",location.
pathname+location.search))}var z=class extends Error{constructor(s,a){super(a.title);this.status=s;this.problem=a}status;problem},bn={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function ze(e,n,s){let a;try{a=await fetch(e,
{signal:n,credentials:"omit",cache:"no-store",headers:{"X-HNS-Token":sessionStorage.getItem(wt)??"",...s?{"Content-Type":"application/json"}:{}},...s?{method:"P\
OST",body:JSON.stringify(s)}:{}})}catch(r){throw n?.aborted?r:new z(0,bn)}if(a.ok)return a;let o={title:`The server answers ${a.status}`};try{o=await a.json()}catch{}
throw new z(a.status,o)}async function Ct(e,n){await ze(e,void 0,n)}var yn=e=>({title:"It has been deleted",detail:e.detail,hint:"It was there when this page wa\
s opened."});function S(e,n,s=!1){let[a,o]=k({path:e}),r=B(),l=B(n);return U(()=>{if(s)return;let m=new AbortController,d=0,f=!1,p=!1,c=0,u=0,i=async()=>{f=!0,p=
!1;let y=0,h=performance.now();try{let _=await(await ze(e,m.signal)).json();if(m.signal.aborted)return;c=0,o({path:e,data:_,at:new Date})}catch(_){if(m.signal.aborted)
return;let P=_ instanceof z?_:new z(0,{title:"The answer cannot be read",detail:String(_)}),{status:R}=P;o(v=>v.path!==e||R===403?{path:e,error:P}:R===404?{path:e,
error:v.data?new z(404,yn(P.problem)):v.error??P}:{...v,error:P}),(R===0||R>=500)&&(y=Math.min(30,2**++c)*1e3)}f=!1,u=performance.now()+4*(performance.now()-h),
p?r.current():y&&(d=window.setTimeout(i,y))};return r.current=()=>{p=!0,!f&&(clearTimeout(d),d=window.setTimeout(i,Math.max(0,u-performance.now())))},i(),()=>{m.
abort(),clearTimeout(d)}},[e,s]),U(()=>{l.current!==n&&r.current?.(),l.current=n},[n]),a.path===e?a:{}}function St(){let[e,n]=k("connecting"),[s,a]=k(0);return U(
()=>{let o,r=0,l=0,m=!1,d=()=>{m||document.hidden||(r=window.setTimeout(f,Math.min(15,2**l++)*1e3))},f=async()=>{clearTimeout(r);let c=o=new AbortController,u=0,
i=()=>{clearTimeout(u),u=window.setTimeout(()=>c.abort(),25e3)};try{i();let y=(await ze("/api/changes",c.signal)).body.pipeThrough(new TextDecoderStream).getReader();
for(let h=await y.read();!h.done;h=await y.read())i(),l=0,n("live"),h.value.includes("changed")&&a(_=>_+1)}catch(y){y instanceof z&&y.status===401&&(m=!0)}clearTimeout(
u),!(o!==c||m)&&(document.hidden||(n("lost"),a(y=>y+1)),d())},p=()=>{clearTimeout(r),o?.abort(),o=void 0,document.hidden||(l=0,a(c=>c+1),f())};return document.addEventListener(
"visibilitychange",p),document.hidden||f(),()=>{m=!0,clearTimeout(r),o?.abort(),document.removeEventListener("visibilitychange",p)}},[]),[e,s]}function Pt(e){let n=new Map;for(let r of e)n.set(r.name,{member:r,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let r of n.values()){let l=r.
member.parent?n.get(r.member.parent):void 0;r.parentMissing=!!r.member.parent&&!l,l?l.children.push(r):s.push(r)}let a=new Set,o=r=>{let l=[r];a.add(r);for(let m=0;m<
l.length;m++){l[m].children=l[m].children.filter(d=>!a.has(d));for(let d of l[m].children)a.add(d),l.push(d)}for(let m=l.length-1;m>=0;m--){let d=l[m];d.problems=
d.member.problems?.length??0;for(let f of d.children)d.problems+=f.problems,d.descendants+=f.descendants+1;Lt(d.children)}};s.forEach(o);for(let r of n.values())
a.has(r)||(s.push(r),o(r));return Lt(s)}function Lt(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function _n(e,n){
if(n.problems&&!e.problems?.length||n.mine&&!n.mine.has(e.name))return!1;let s=n.text.trim().toLowerCase(),a=s.indexOf("=");return a>0?e.labels?.[n.text.trim().
slice(0,a)]?.toLowerCase()===s.slice(a+1):e.name.includes(s)}function pe(e){return e.problems||!!e.mine||e.text.trim()!==""}function $e(e,n,s){let a=pe(n),o=new Set;
if(a){let f=[];for(let p of e)f.push({node:p,above:[]});for(let p=f.pop();p;p=f.pop()){if(_n(p.node.member,n)){o.add(p.node);for(let u of p.above)o.add(u)}let c=p.
node.children.length?[...p.above,p.node]:p.above;for(let u of p.node.children)f.push({node:u,above:c})}}let r=f=>a?f.filter(p=>o.has(p)):f,l=[],m=[],d=(f,p,c)=>{
for(let u=f.length-1;u>=0;u--)m.push({node:f[u],depth:p,parent:c,expanded:!1,position:u+1,siblings:f.length})};d(r(e),0,-1);for(let f=m.pop();f;f=m.pop()){let p=r(
f.node.children);f.expanded=p.length>0&&(a||s(f.node)),l.push(f),f.expanded&&d(p,f.depth+1,l.length-1)}return l}function J(e){let n=e.replace(/([a-z])([A-Z])/g,
"$1 $2").toLowerCase();return n.charAt(0).toUpperCase()+n.slice(1)}function _e(e,n=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));
return s<120?s+"s":s<3*3600?Math.floor(s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function L(e,n,s=n+
"s"){return`${e.toLocaleString("en")} ${e===1?n:s}`}var Tt=e=>Math.round(e*100)+"%";function hn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","\
G","T","P","E"].indexOf(e);return n>=0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:1}function he(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/hn(s)).toFixed(3)+s}function Mt(e,n,s){
let a={name:e.namespace,own:0,sum:0,children:[]},o=new Map([[a.name,a]]);for(let{namespace:l,used:m}of e.namespaces){if(!m[n])continue;let d=o.get(l),f=[];for(let i=l;i&&
!o.has(i)&&!f.includes(i);i=s.get(i))f.push(i);let p=f.length&&s.get(f[f.length-1]),c=p&&o.get(p)||a,u=p&&o.has(p)?f:f.slice(0,1);for(let i of u.reverse())d={name:i,
own:0,sum:0,children:[]},c.children.push(d),o.set(i,d),c=d;d.own=m[n]}let r=l=>(l.sum=l.own+l.children.reduce((m,d)=>m+r(d),0),l.children.sort((m,d)=>d.sum-m.sum||
(m.name<d.name?-1:1)),l.sum);return r(a),a}function At(e,n){let s=o=>o.value*(1-o.share),a=new Map;for(let o of e)if(n.includes(o.namespace)&&!o.scoped)for(let r of o.
limits){let l=a.get(r.resource);(!l||s(r)<s(l.limit))&&a.set(r.resource,{quota:o,limit:r})}return[...a.values()].sort((o,r)=>r.limit.share-o.limit.share)}function Rt(e){
let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+`\r
`).join("")}function Ue(e){return e.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g,
n=>`⟨U+${n.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function $t(e){let n=new Map;for(let s of e)for(let a of s.access??[]){let o=`${a.kind}\
 ${a.namespace?a.namespace+"/":""}${a.name} ${a.change==="Gained"?"gains":"loses"} ${a.roleKind}/${a.role}`;n.has(o)||n.set(o,{change:a.change,text:o,namespaces:[]}),
n.get(o).namespaces.push(s.name)}return[...n.values()]}var Ne=500;function Ut(e){let r=[],l=e.map(({node:c,expanded:u})=>c.member.name+(!u&&c.descendants?`  +${c.
descendants}`:""));e.forEach((c,u)=>{r[c.depth]=Math.max(r[c.depth]??0,l[u].length*7.6+46)});let m=[];r.reduce((c,u,i)=>(m[i]=c,c+u),16);let d=e.map((c,u)=>({node:c.
node,name:c.node.member.name,label:l[u],x:m[c.depth],y:0,end:m[c.depth]+13+l[u].length*7.6,title:[c.node.member.name,...(c.node.member.problems??[]).map(i=>`${J(
i.reason)}: ${i.message}`)].join(`
`)})),f=e.map(()=>[]);e.forEach((c,u)=>{c.parent>=0&&(f[c.parent].push(u),d[u].parent=d[c.parent])});let p=0;e.forEach((c,u)=>{f[u].length||(d[u].y=16+(p+++.5)*
24)});for(let c=e.length-1;c>=0;c--){let u=f[c];u.length&&(d[c].y=(d[u[0]].y+d[u[u.length-1]].y)/2)}return{nodes:d,width:Math.ceil((m[m.length-1]??16)+(r[r.length-
1]??0)),height:Math.ceil(32+p*24)}}function X(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function C({to:e,children:n,...s}){return t("a",{href:e,onClick:o=>{
o.button||o.ctrlKey||o.metaKey||o.shiftKey||o.altKey||(o.preventDefault(),X(e))},...s},n)}var vn=w.vnode;w.vnode=e=>{e.type===null&&typeof e.props=="string"?e.props=
Ue(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=Ue(e.props.title)),vn?.(e)};function D(e){U(()=>{document.title=Ue(e)+" · hns"},[e])}function Z(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function ve(e,n,s){let a=document.createElement("a");a.href=URL.createObjectURL(new Blob([s],{type:n})),a.download=e,a.click(),
setTimeout(()=>URL.revokeObjectURL(a.href),1e4)}function H({list:e}){return t(b,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+n.slice(1))))}
var T=e=>"/ns/"+e,Q=(e,n,s)=>`/ns/${e}/${n}/${encodeURIComponent(s)}`;function Nt({text:e,title:n}){let[s,a]=k(!1);return t("button",{onClick:()=>navigator.clipboard.
writeText(e).then(()=>{a(!0),setTimeout(()=>a(!1),1500)})},t("span",{"aria-live":"polite"},s?"Copied":n))}function $({command:e}){let[n,s]=k(!1);return t("butto\
n",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},t("code",
null,e),t("span",{"aria-live":"polite"},n?"Copied":"Copy"))}function V({problem:e}){return t("section",{class:"box bad",role:"alert"},t("h2",null,e.title),e.missingPermission&&
t("p",null,"Missing permission: ",t("code",null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),e.hint&&t("p",null,e.hint))}function N({from:e,
children:n}){let[s,a]=k(!1);return U(()=>{let o=setTimeout(()=>a(!0),200);return()=>clearTimeout(o)},[]),e.data?t(b,null,e.error&&t("p",{class:"stale",role:"sta\
tus"},t("b",null,e.error.problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint),n(e.data)):e.error?t(V,{problem:e.error.
problem}):t("p",{class:"dim",role:"status"},s?"Reading from the cluster …":"")}function xe({text:e}){return t("pre",{class:"diff",tabIndex:0,role:"group","ari\
a-label":"Difference"},e.split(`
`).filter((n,s,a)=>n||s<a.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function ue({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?J(n.type).toLowerCase():J(n.type))," ",t("b",null,J(n.reason))," ",t("span",{class:"message"},n.message))))}function Dt({version:e}){let n=S("/api/quotas",e),s=S("/api/forest",e);return D("Quotas"),t("main",null,!n.data&&t("div",{class:"head"},t("h1",null,"Quotas")),t(
N,{from:n},a=>t(xn,{data:a,forest:s.data})))}var me=e=>e>=1?"full":e>=.8?"high":"";function de({limit:e,parts:n}){let s=a=>e.value>0?Math.min(100,a/e.value*100)+
"%":"0%";return t("span",{class:"bar "+me(e.share),role:"meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(
1,e.share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},(n??[{name:"",value:e.share*e.value}]).map((a,o)=>t("i",{key:a.name,class:o%2?"odd":"",style:{width:s(
a.value)},title:a.name&&`${a.name}: ${he(a.value,e.hard)}`})))}function xn({data:e,forest:n}){let[s,a]=Z(),o=s.get("resource")??"",r=G(()=>new Map(n?.namespaces.
map(p=>[p.name,p.parent])),[n]),l=[...new Set(e.quotas.flatMap(p=>p.limits.map(c=>c.resource)))].sort(),m=p=>Math.max(0,...p.limits.filter(c=>!o||c.resource===o).
map(c=>c.share)),d=e.quotas.filter(p=>!o||p.limits.some(c=>c.resource===o)).sort((p,c)=>+!!c.problems-+!!p.problems||m(c)-m(p)),f=e.quotas.filter(p=>p.limits.some(
c=>c.share>=1)).length;return t(b,null,t("div",{class:"head"},t("h1",null,"Quotas"),t("p",{class:"summary"},L(e.quotas.length,"quota"),", the fullest first",f>0&&
t(b,null," · ",t("b",{class:"bad"},f," full"))),t($,{command:"kubectl hns hrq -A --tree"})),t(H,{list:e.notes}),l.length>1&&t("div",{class:"tools"},t("label",null,
"Resource ",t("select",{value:o,onChange:p=>a(p.target.value?{resource:p.target.value}:{})},t("option",{value:""},"all"),l.map(p=>t("option",{key:p,value:p},p))))),
d.length?d.map(p=>t(kn,{key:p.namespace+"/"+p.name,quota:p,parents:r,only:o})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of t\
his resource":" that you may see","."))}function kn({quota:e,parents:n,only:s}){let[a,o]=k(""),r=e.limits.filter(l=>!s||l.resource===s);return t("section",{class:"\
box","aria-label":`Quota ${e.name} of ${e.namespace}`,"data-quota":e.namespace+"/"+e.name},t("h2",null,t(C,{to:T(e.namespace)},e.namespace)," ",t("span",{class:"\
dim"},"/")," ",t(C,{to:Q(e.namespace,"hierarchicalresourcequotas.hnc.x-k8s.io",e.name)},e.name)," ",e.scoped&&t("span",{class:"tag"},"scoped")),e.problems&&t(ue,
{list:e.problems}),r.map((l,m)=>{let d=Mt(e,l.resource,n),f=a===l.resource;return t("div",{class:"limit",key:l.resource},t("button",{class:"twist","aria-expande\
d":f,"aria-label":`Use of ${l.resource} by namespace`,disabled:!d.children.length&&!d.own,onClick:()=>o(f?"":l.resource)},f?"▾":"▸"),t("span",{class:"what"},
l.resource,m===0&&e.limits.length>1&&!s&&l.share>0&&t("span",{class:"tag"},"binds first")),t(de,{limit:l,parts:e.omitted?void 0:[...d.own?[{name:e.namespace,value:d.
own}]:[],...d.children.map(p=>({name:p.name,value:p.sum}))]}),t("span",{class:"num "+me(l.share)},l.used," of ",l.hard," ",t("span",{class:"dim"},Tt(l.share))),
f&&t("ul",{class:"use"},t(jt,{use:d,limit:l})))}),r.length===0&&t("p",{class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"note"},L(e.omitted,"namespa\
ce")," more use it than are listed."))}function jt({use:e,limit:n}){let s={...n,used:he(e.sum,n.hard),share:n.value>0?e.sum/n.value:1};return t("li",null,t("div",
{class:"branch"},t(C,{to:T(e.name)},e.name),t("span",{class:"num"},he(e.sum,n.hard),e.children.length>0&&t("span",{class:"dim"}," (",he(e.own,n.hard)," itself)")),
t(de,{limit:s})),e.children.length>0&&t("ul",null,e.children.map(a=>t(jt,{key:a.name,use:a,limit:n}))))}function Ot({name:e,version:n}){let s=S("/api/namespaces/"+e,n);return D(e),t("main",null,!s.data&&t(De,{name:e,page:""}),t(N,{from:s},a=>t(En,{ns:a,version:n})))}
var wn=[["","Overview"],["access","Access"]],Ft=new Map;function De({name:e,page:n,path:s,abstract:a,children:o}){return s&&Ft.set(e,s),s=Ft.get(e)??[e],t(b,null,
t(Je,{names:s,abstract:a}),t("div",{class:"head"},t("h1",null,e),o),t("nav",{class:"tabs","aria-label":"Pages of "+e},wn.map(([r,l])=>t(C,{key:r,to:T(e)+(r&&"/"+
r),"aria-current":r===n?"page":void 0},l)),t(C,{to:"/plan?namespace="+e},"Plan a change"),t(C,{to:Q(e,"hierarchies.hnc.x-k8s.io","hierarchy")},"Hierarchy as YAM\
L")))}function Je({names:e,abstract:n=[]}){return t("nav",{"aria-label":"Path to the root",class:"path"},t("ol",null,t("li",null,t(C,{to:"/"},"Forest")),[...n].
reverse().map(s=>t("li",{key:"a "+s,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},s)),e.map((s,a)=>t("li",{key:s},a===e.length-1?t("b",
{"aria-current":"page"},s):t(C,{to:T(s)},s)))))}function En({ns:e,version:n}){let s=[e.kind==="full"?"full namespace":e.kind,e.path.length>1?`level ${e.path.length}`:
"root",e.created&&`${_e(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&e.cascadingDeletionSetFrom!==
e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return t(b,null,t(De,{name:e.name,page:"",path:e.path,abstract:e.abstractAncestors},
t("p",{class:"summary"},e.deleting&&t(b,null,t("b",{class:"bad"},"being deleted")," · "),s.join(" · ")),t($,{command:"kubectl hns describe "+e.name})),e.excluded&&
t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),t(H,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box \
bad"},t("h2",null,L(e.problems.length,"problem")),t(ue,{list:e.problems})),t("div",{class:"columns"},t("section",{"aria-labelledby":"policy"},t("h2",{id:"policy"},
"Policy"),e.resources.map(a=>t(Cn,{key:a,namespace:e.name,resource:a,version:n}))),t("div",null,t(Sn,{ns:e}),t(Ln,{ns:e,version:n}),t(Pn,{ns:e}),t(Tn,{namespace:e.
name,version:n}))))}function Cn({namespace:e,resource:n,version:s}){let a=S(`/api/namespaces/${e}/objects/${n}`,s),[o,...r]=n.split("."),l=a.data?.items??[],m=l.
filter(d=>d.state!=="Absent").length;return t("section",{class:"kind","aria-label":n},t("h3",null,t("span",null,o),r.length>0&&t("small",{class:"dim"},r.join(".")),
t("span",{class:"grow"}),a.data&&t("small",{class:"dim"},m?L(m,"object"):"none"),a.data?.mode&&t("span",{class:"tag"},a.data.mode)),a.error&&!a.data&&t("p",{class:"\
note"},a.error.problem.missingPermission?t(b,null,"Missing permission: ",t("code",null,a.error.problem.missingPermission)):a.error.problem.detail),a.data?.notes?.
map(d=>t("p",{class:"note",key:d},d)),l.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,"Name"),t("th",null,"Where it comes from"))),
t("tbody",null,l.map(d=>t("tr",{key:d.name,class:d.state},t("td",null,t(C,{to:Q(e,n,d.name)},d.name)),t("td",null,d.state==="Copy"?t(b,null,"copied from ",t(C,{
to:T(d.source)},d.source)):d.state==="Local"?t(b,null,"made here ",d.override&&t("span",{class:"tag"},"override")):t(b,null,t("span",{class:"tag"},"not here"),"\
 is in ",t(C,{to:T(d.source)},d.source)," · ",t(C,{to:Q(e,n,d.name)},"why not here?"))))))))}function Sn({ns:e}){return t("section",{class:"box","aria-labelled\
by":"children"},t("h2",{id:"children"},"Children ",t("small",{class:"dim"},e.children.length||"")),e.children.length?t("ul",{class:"plain"},e.children.map(n=>t(
"li",{key:n.name},t(C,{to:T(n.name)},n.name)," ",t("span",{class:"dim"},n.subnamespace?"sub-namespace":""),n.state&&n.state!=="Ok"&&t("span",{class:"tag bad"},n.
state)))):t("p",{class:"dim"},"None."))}function Ln({ns:e,version:n}){let s=S("/api/quotas",n),a=s.data?At(s.data.quotas,e.path):[];return a.length?t("section",
{class:"box","aria-labelledby":"limits","data-limits":!0},t("h2",{id:"limits"},"Quotas: what is left"),t("ul",{class:"plain limits"},a.map(({quota:o,limit:r})=>t(
"li",{key:r.resource},t(C,{to:"/quotas?"+new URLSearchParams({resource:r.resource})},r.resource)," ",t(de,{limit:r}),t("span",{class:"dim"},t("b",{class:me(r.share)},
r.used," of ",r.hard)," below ",o.namespace))))):null}function Pn({ns:e}){let n=e.labelsFrom.filter(o=>!o.tree),s=e.labelsFrom.filter(o=>o.tree),a=o=>t("li",{key:o.
key},t("code",null,o.key,"=",o.value),o.from&&t("span",{class:"dim"}," set by the hierarchy ",o.from===e.name?"here":t(b,null,"in ",t(C,{to:T(o.from)},o.from))));
return t("section",{class:"box","aria-labelledby":"labels"},t("h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(a)):t("p",{class:"dim"},"None o\
f its own."),s.length>0&&t("details",null,t("summary",null,s.length," set by its place in the tree"),t("ul",{class:"plain"},s.map(a))))}function Tn({namespace:e,
version:n}){let s=S(`/api/namespaces/${e}/events`,n),[a,o]=k(!1),r=s.data??[],l=a?r:r.slice(0,8),m=s.error?.problem.missingPermission;return t("section",{class:"\
box","aria-labelledby":"events"},t("h2",{id:"events"},"Events ",t("small",{class:"dim"},r.length||"")),l.length>0&&t("ul",{class:"plain events"},l.map((d,f)=>t(
"li",{key:f},t("span",{class:"tag "+(d.warning?"bad":"")},d.reason)," ",t("b",null,d.kind,"/",d.name)," ",t("span",{class:"dim"},_e(d.last),d.count>1&&` ×${d.count}`),
t("br",null),t("span",{class:"message"},d.message)))),r.length>l.length&&t("button",{onClick:()=>o(!0)},"Show ",r.length-l.length," more"),s.data&&!r.length&&t(
"p",{class:"dim"},"None."),s.error&&!s.data&&t("p",{class:"note"},m?t(b,null,"Missing permission: ",t("code",null,m)):s.error.problem.detail))}var Mn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],An=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function It({name:e,version:n}){let[s,a]=Z(),o=s.get("verb")??"",r=s.get("resource")??"",l=o!==""&&r!=="",m=S(`/api/namespaces/${e}/access`+(l?"?"+
new URLSearchParams({verb:o,resource:r}):""),n);return D(`Access to ${e}`),t("main",null,t(De,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:f=>{f.
preventDefault();let p=new FormData(f.target);a({verb:String(p.get("verb")).trim(),resource:String(p.get("resource")).trim()})},key:o+" "+r,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",value:o,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-label":"Ve\
rb"})),t("input",{name:"resource",list:"resources",value:r,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"Resource"}),t("\
span",null,"in ",e,"?"),t("datalist",{id:"verbs"},Mn.map(f=>t("option",{key:f,value:f}))),t("datalist",{id:"resources"},An.map(f=>t("option",{key:f,value:f}))),
t("button",{class:"primary"},"Show"),l&&t("button",{type:"button",onClick:()=>a({})},"Show all grants"),t("span",{class:"grow"}),t($,{command:`kubectl hns who ${e}`+
(l?` ${o} ${r}`:"")})),t(N,{from:m},f=>t(Rn,{name:e,access:f,permission:l?`${o} ${r}`:""})))}var je=e=>e.subject.namespace?`${e.subject.namespace}/${e.subject.name}`:
e.subject.name;function Rn({name:e,access:n,permission:s}){let[a,o]=k(""),r=n.grants??[],l=r.filter(i=>(je(i)+" "+i.role).toLowerCase().includes(a.trim().toLowerCase())),
m=l.filter(i=>!i.unknown),d=m.filter(i=>i.at),f=m.filter(i=>!i.at),p=l.filter(i=>i.unknown),c=new Set(r.filter(i=>!i.unknown).map(i=>i.subject.kind+" "+je(i))).
size,u=()=>ve(`access-${e}.csv`,"text/csv",Rt([["kind","subject","role","binding","set in","only","known"],...l.map(i=>[i.subject.kind,je(i),i.role,i.binding,i.
at??"(cluster)",(i.names??[]).join(" "),i.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},s?`${L(c,"subject")} can ${s}\
 in ${e}`:`${L(c,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","aria-label":"Filter by subjec\
t or role",value:a,onInput:i=>o(i.target.value)}),t("button",{onClick:u,disabled:!l.length},"CSV")),t(H,{list:n.notes}),t(Xe,{title:"By bindings in the namespac\
e and its ancestors",name:e,grants:d,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(Xe,{title:"In the whole cluster",name:e,grants:f,
open:d.length===0&&s!==""}),t(Xe,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:p,open:!0}),t("p",{class:"dim"},"As RBAC\
 grants it. Members of the group system:masters may do everything."))}function Xe({title:e,name:n,grants:s,open:a,empty:o}){return!s.length&&!o?null:t("details",
{class:"box fold",open:a},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"list"},t("thead",null,t("tr",null,t(
"th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,s.map((r,l)=>t("tr",{key:l},t("td",null,t("span",{class:"\
dim"},r.subject.kind)," ",t("b",null,je(r))),t("td",{"data-label":"Role"},r.role,r.names&&t("span",{class:"dim"}," only ",r.names.join(", "))),t("td",{"data-lab\
el":"Binding"},r.binding.startsWith("RoleBinding/")?t(C,{to:Q(n,"rolebindings.rbac.authorization.k8s.io",r.binding.slice(12))},r.binding):r.binding),t("td",{"da\
ta-label":"Set in"},r.at?r.at===n?"here":t(C,{to:T(r.at)},r.at):"the cluster"))))):t("p",{class:"dim"},o))}var $n={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function Bt({version:e}){let n=S("/api/administration",e),[s,a]=k(0),o=S("/api/checks",s);return D("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(N,{from:n},r=>t(Un,{a:r})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>a(r=>r+1)},"Check again"),t($,{command:"kubectl hns doctor"})),t(N,{from:o},
r=>t(Nn,{list:r}))))}function Un({a:e}){return t(b,null,t(H,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,L(e.problems.length,
"problem")),t(ue,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t($,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},$n[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hns-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(b,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t($,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},L(n.objects,"object"),n.applied&&t(b,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(b,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var Ht=["error","warning","unknown","ok"];function Nn({list:e}){let n=[...e].sort((l,m)=>Ht.indexOf(
l.severity)-Ht.indexOf(m.severity)),s=n.filter(l=>l.severity==="error"||l.severity==="warning"),a=n.filter(l=>l.severity==="unknown"),o=n.filter(l=>l.severity===
"ok"),r=l=>t("ul",{class:"plain checks"},l.map((m,d)=>t("li",{key:d,class:m.severity},t("span",{class:"tag "+(m.severity==="ok"?"":m.severity==="unknown"?"warn":
"bad")},m.severity),t("span",null,t("b",null,m.subject)," ",m.text,m.hint&&t("p",{class:"hint"},m.hint)))));return t(b,null,s.length?r(s):t("p",{class:o.length?
"good":"dim"},o.length," of ",L(e.length,"check")," without findings."),a.length>0&&t("details",null,t("summary",null,L(a.length,"check")," for which you lack p\
ermissions"),r(a)),o.length>0&&t("details",null,t("summary",null,L(o.length,"check")," without findings"),r(o)))}var W={text:"#1b2330",line:"#c3cad4",node:"#2251b8",bad:"#a8231b",back:"#ffffff"};function Qt({roots:e,filter:n,isExpanded:s}){let a=B(null),[o,r]=k(""),l=$e(e,
n,s),{nodes:m,width:d,height:f}=G(()=>Ut(l.slice(0,Ne)),[l.length,e,n]),p=()=>new XMLSerializer().serializeToString(a.current),c=()=>ve("forest.svg","image/svg+\
xml",p()),u=async()=>{try{let i=new Image;i.src="data:image/svg+xml;charset=utf-8,"+encodeURIComponent(p()),await i.decode();let y=Math.min(2,16e3/Math.max(d,f)),
h=document.createElement("canvas");h.width=d*y,h.height=f*y,h.getContext("2d").drawImage(i,0,0,h.width,h.height),h.toBlob(_=>_?ve("forest.png","image/png",_):r(
"The drawing is too large for a PNG. Save it as SVG."))}catch{r("The browser cannot make a PNG of the drawing. Save it as SVG.")}};return t("section",{class:"bo\
x drawing","aria-label":"Drawing of the forest"},t("div",{class:"tools"},t("span",{class:"dim",role:"status"},o||(l.length>Ne?`The first ${L(Ne,"namespace")} of\
 ${l.length}: collapse trees in the table, or filter`:L(l.length,"namespace"))),t("span",{class:"grow"}),t("button",{onClick:c},"Save SVG"),t("button",{onClick:u},
"Save PNG")),t("div",{class:"canvas",tabIndex:0,role:"group","aria-label":"Drawing, scrollable"},t("svg",{ref:a,xmlns:"http://www.w3.org/2000/svg",width:d,height:f,
viewBox:`0 0 ${d} ${f}`,role:"group","aria-label":`${L(m.length,"namespace")} as trees`,"font-family":"system-ui, sans-serif","font-size":"13"},t("rect",{width:d,
height:f,fill:W.back,class:"back"}),m.map(i=>i.parent&&t("path",{key:"to "+i.name,d:`M${i.parent.end} ${i.parent.y}H${i.x-38}C${i.x-20} ${i.parent.y} ${i.x-26} ${i.
y} ${i.x-8} ${i.y}`,fill:"none",stroke:W.line,class:"edge"})),m.map(i=>t("a",{key:i.name,href:T(i.name),class:i.node.member.problems?.length?"bad":"",onClick:y=>{
y.preventDefault(),X(T(i.name))},"data-namespace":i.name},t("title",null,i.title),t("circle",{cx:i.x,cy:i.y,r:5,fill:i.node.member.problems?.length?W.bad:i.node.
member.kind==="full"?W.node:W.back,stroke:i.node.member.problems?.length?W.bad:W.node,"stroke-width":"2"}),t("text",{x:i.x+11,y:i.y+4.5,fill:i.node.member.problems?.
length?W.bad:W.text,"font-weight":i.node.member.problems?.length?"bold":"normal"},i.label))))),t("p",{class:"dim"},"A filled circle is a full namespace, an open\
 one a sub-namespace; red ones have problems."))}var q=30,Dn=200,Kt=4,Gt=6,Ze=new Map,Ve={text:"",problems:!1},Wt="",qt="";function Yt({version:e}){let n=S("/api/forest",e);D("Forest");let s=S("/api/quotas",e);
return t("main",{class:"forest"},!n.data&&t("div",{class:"head"},t("h1",null,"Forest")),t(N,{from:n},a=>t(Fn,{forest:a,quotas:s.data})))}function jn(e,n){let s=new Map;
for(let a of e.quotas)for(let o of a.limits)(!n||o.resource===n)&&!(s.get(a.namespace)?.share>=o.share)&&s.set(a.namespace,o);return s}function Fn({forest:e,quotas:n}){
let[s,a]=k(Wt),o=x=>{Wt=x,a(x)},r=G(()=>[...new Set(n?.quotas.flatMap(x=>x.limits.map(j=>j.resource)))].sort(),[n]),l=G(()=>n?.quotas.length?jn(n,s):void 0,[n,s]),
m=G(()=>Pt(e.namespaces),[e]),[d,f]=Z(),p=d.get("view")==="drawing",[c,u]=k(Ve),[i,y]=k(!!Ve.mine),h=S("/api/mine",0,!i);U(()=>_({...c,mine:i&&h.data?new Set(h.
data):void 0}),[i,h.data]);let _=x=>{Ve=x,u(x)},[,P]=k(0),R=e.namespaces.length<=Dn,v=x=>Ze.get(x.member.name)??(R||x.problems>(x.member.problems?.length??0)),E=$e(
m,c,v),F=e.namespaces.filter(x=>x.problems?.length),Y=(x,j)=>{Ze.set(x.member.name,j),P(ke=>ke+1)},ee=x=>{for(let j of e.namespaces)Ze.set(j.name,x);P(j=>j+1)};
return t("div",null,t("div",{class:"head"},t("h1",null,"Forest"),t("p",{class:"summary"},L(e.namespaces.length,"namespace")," in ",L(m.length,"tree")," · ",F.length?
t(b,null,t("b",{class:"bad"},L(F.length,"namespace")," with problems"),": ",F.slice(0,Kt).map(x=>t(b,null,t(C,{to:T(x.name),key:x.name},x.name)," ")),F.length>Kt&&
"…"):t("span",{class:"good"},"no problems")),t($,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),t("div",{class:"tools"},t("inpu\
t",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:c.text,onInput:x=>_({...c,text:x.
target.value}),spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"checkbox",checked:c.problems,onChange:x=>_({...c,problems:x.target.
checked})})," With problems"),t("label",{class:"check",title:"Namespaces that you may get by a role in them"},t("input",{type:"checkbox",checked:i,onChange:x=>y(
x.target.checked)})," Mine"),t("span",{class:"grow"}),t("span",{class:"views",role:"group","aria-label":"View"},[["","Table"],["drawing","Drawing"]].map(([x,j])=>t(
"button",{key:x,"aria-pressed":p===(x==="drawing"),onClick:()=>f(x?{view:x}:{})},j))),!p&&r.length>0&&t("label",null,"Quota of ",t("select",{value:s,onChange:x=>o(
x.target.value)},t("option",{value:""},"the fullest"),r.map(x=>t("option",{key:x,value:x},x)))),t("button",{onClick:()=>ee(!0),disabled:pe(c)},"Expand all"),t("\
button",{onClick:()=>ee(!1),disabled:pe(c)},"Collapse all")),i&&h.error&&t(V,{problem:h.error.problem}),p&&E.length?t(Qt,{roots:m,filter:c,isExpanded:v}):E.length?
t(On,{list:E,toggle:Y,filter:c,limits:l}):t("p",{class:"dim box",role:"status"},pe(c)?"No namespace matches the filter.":"There are no namespaces that you may s\
ee."))}function On({list:e,toggle:n,filter:s,limits:a}){let o=pe(s),r=B(null),[l,m]=k({top:0,height:800}),[d,f]=k(qt),p=v=>{qt=v,f(v)},c=Math.max(0,e.findIndex(
v=>v.node.member.name===d));U(()=>y(c),[]),U(()=>{o&&(r.current.scrollTop=0)},[s.text,s.problems,s.mine]);let u=()=>{let v=r.current;v&&m({top:v.scrollTop,height:v.
clientHeight})};U(()=>(u(),addEventListener("resize",u),()=>removeEventListener("resize",u)),[e.length]);let i=v=>{v=Math.max(0,Math.min(e.length-1,v)),p(e[v].node.
member.name),y(v)},y=v=>{let E=r.current;v*q<E.scrollTop&&(E.scrollTop=v*q),(v+1)*q>E.scrollTop+E.clientHeight&&(E.scrollTop=(v+1)*q-E.clientHeight)},h=v=>{let E=e[c],
F=Math.max(1,Math.floor(l.height/q)-1);if(!(v.ctrlKey||v.metaKey||v.altKey)){switch(v.key){case"ArrowDown":i(c+1);break;case"ArrowUp":i(c-1);break;case"PageDown":
i(c+F);break;case"PageUp":i(c-F);break;case"Home":i(0);break;case"End":i(e.length-1);break;case"ArrowRight":E.expanded?i(c+1):E.node.children.length&&!o&&n(E.node,
!0);break;case"ArrowLeft":E.expanded&&!o?n(E.node,!1):E.parent>=0&&i(E.parent);break;case"Enter":X(T(E.node.member.name));break;default:return}v.preventDefault()}},
_=Math.max(0,Math.floor(l.top/q)-10),P=Math.min(e.length,Math.ceil((l.top+l.height)/q)+10),R=e.slice(_,P);return t("div",{class:"grid"+(a?" limited":""),role:"t\
reegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,onKeyDown:h,"aria-activedescendant":c>=_&&c<P?"row-"+e[c].node.member.
name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},t("span",{role:"columnheader"},"Namespace"),t("span",{role:"columnheader"},"Problems"),a&&
t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"columnheader",class:"wide"},"Kind"),t("span",{role:"columnheader",class:"num wide",title:"N\
amespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},"Age")),t("div",{class:"rows",role:"rowgroup",ref:r,onScroll:u,tabIndex:-1},t("div",{role:"\
presentation",style:{height:e.length*q+"px",position:"relative"}},R.map((v,E)=>t(In,{key:v.node.member.name,row:v,index:_+E,active:_+E===c,fixed:o,choose:()=>p(
v.node.member.name),toggle:n,limits:a})))))}function In({row:e,index:n,active:s,fixed:a,choose:o,toggle:r,limits:l}){let{node:m,depth:d,expanded:f}=e,{member:p,
children:c}=m,u=p.problems?.length??0,i=m.problems-u,y=l?.get(p.name);return t("div",{id:"row-"+p.name,role:"row",class:"row"+(s?" active":"")+(u?" troubled":""),
"aria-level":d+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-expanded":c.length?f:void 0,style:{top:n*q+"px","--depth":Math.min(
d,Gt)},onMouseDown:o,draggable:!0,onDragStart:h=>h.dataTransfer.setData("text/x-namespace",p.name),onDragOver:h=>{h.dataTransfer.types.includes("text/x-namespac\
e")&&h.preventDefault()},onDrop:h=>{h.preventDefault();let _=h.dataTransfer.getData("text/x-namespace");_&&_!==p.name&&X(`/plan?namespace=${_}&change=move&paren\
t=${p.name}`)}},t("span",{role:"gridcell",class:"name"},c.length?t("button",{class:"twist",tabIndex:-1,"aria-hidden":"true",disabled:a,onClick:()=>r(m,!f)},f?"▾":
"▸"):t("span",{class:"twist"}),d>Gt&&t("span",{class:"dim level",title:"Level in the tree"},d+1),t(C,{to:T(p.name),tabIndex:-1,title:p.name},p.name),p.deleting&&
t("span",{class:"tag"},"deleting")),t("span",{role:"gridcell",class:"what"},u?t("span",{class:"problem",title:p.problems.map(h=>`${J(h.type)}: ${h.message}`).join(
`
`)},t("b",null,J(p.problems[0].reason))," ",t("span",{class:"wide"},p.problems[0].message),u>1&&` +${u-1}`):i&&!f?t("span",{class:"problem below"},i," below"):null),
l&&t("span",{role:"gridcell",class:"quota wide"},y&&t(C,{to:"/quotas",tabIndex:-1,title:`${y.resource}: ${y.used} of ${y.hard}`},t(de,{limit:y})," ",t("span",{class:me(
y.share)},y.used,"/",y.hard)," ",t("span",{class:"dim"},y.resource))),t("span",{role:"gridcell",class:"dim wide"},p.kind==="full"?"":p.kind),t("span",{role:"gri\
dcell",class:"num dim wide"},m.descendants||""),t("span",{role:"gridcell",class:"num dim"},_e(p.created)))}function zt({version:e,...n}){let{namespace:s,resource:a,name:o}=n,r=`/api/namespaces/${s}/objects/${encodeURIComponent(a)}/${encodeURIComponent(o)}`,l=S(r,e),m=l.
data&&l.data.state!=="Absent";return D(`${o} in ${s}`),t("main",null,t(Je,{names:[s,o]}),t("div",{class:"head"},t("h1",null,o),t("p",{class:"summary"},a," in ",
s),t($,{command:`kubectl hns explain ${a} ${o} -n ${s}`})),t(N,{from:l},d=>t(Hn,{a:d,place:n})),m&&t(Bn,{path:r+"/content",version:e,place:n}))}function Hn({a:e,
place:n}){let s={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in ${e.namespace}.`}[e.state];return t(
"div",{class:"story"},t("section",{class:"box","data-state":e.state},t("h2",null,s),t("ul",null,e.because.map(a=>t("li",{key:a,class:"message"},a)))),t("section",
{"aria-labelledby":"way"},t("h2",{id:"way"},"From the root to ",e.namespace),t("ol",{class:"way"},[...e.levels].reverse().map(a=>{let o=a.namespace===e.namespace,
r=a.namespace===e.source;return t("li",{key:a.namespace,class:r?"source":a.state==="Local"?"Local":o?"here "+e.state:a.state},t(C,{to:a.state&&a.state!=="Absent"&&
!o?Q(a.namespace,n.resource,n.name):T(a.namespace)},a.namespace)," ",t("span",{class:"dim"},a.unread?`not known: ${a.unread}`:r?"the source":a.state==="Copy"?`a\
 copy${a.source===e.source?"":` of ${a.source}`}`:a.state==="Local"?"made here":"not here"),a.mode&&a.mode!=="Propagate"&&t("span",{class:"tag",title:"How objec\
ts of the kind are propagated from here"},a.mode))}))))}function Bn({path:e,version:n,place:s}){let a=S(e,n);return t(N,{from:a},o=>t(b,null,t(H,{list:o.notes}),
o.source&&!o.difference&&!o.notes&&t("p",{class:"dim"},"It is equal to its source, apart from what the server sets."),o.difference&&t("details",{class:"box fold"},
t("summary",null,t("h2",null,"Difference from the source in ",o.source)),t(xe,{text:o.difference})),o.overwritten&&t("details",{class:"box fold",open:!0,"data-o\
verwritten":!0},t("summary",null,t("h2",null,"What it has overwritten")),t("p",{class:"dim"},"An ancestor's object replaced one that was made here. Removed line\
s are those of the former."),t(xe,{text:o.overwritten}),t($,{command:`kubectl hns explain ${s.resource} ${s.name} -n ${s.namespace} --overwritten`})),t("details",
{class:"box fold","data-yaml":!0},t("summary",null,t("h2",null,"YAML")),t("div",{class:"tools"},t("span",{class:"grow"}),t(Nt,{text:o.manifest,title:"Copy as YA\
ML"})),t("pre",{class:"yaml",tabIndex:0,role:"group","aria-label":"YAML"},o.manifest))))}var oe={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of\
 a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},
forbid:{title:"Forbid cascading deletion",fields:[],write:!0}},Jt={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},Qn=["Propagate",
"AllowPropagate","Remove","Ignore"],Kn=2e3;function Zt({version:e}){let[n,s]=Z(),a=S("/api/session",0),o=S("/api/forest",0),r=Object.fromEntries(n),[l,m]=k(r.change in
oe?r.change:"move");U(()=>{r.change in oe&&m(r.change)},[r.change]),D(r.namespace?`Plan for ${r.namespace}`:"Plan");let d=r.namespace&&r.change in oe&&oe[r.change].
fields.every(u=>r[u]),f=u=>{u.preventDefault();let i=new FormData(u.target);s(Object.fromEntries(["namespace","change",...oe[l].fields].map(y=>[y,String(i.get(y)).
trim()])))},p=(o.data?.namespaces??[]).slice(0,Kn),c=(u,i)=>t("input",{key:u,name:u,"aria-label":Jt[u]??"Namespace",placeholder:Jt[u]??"Namespace",list:i,value:r[u]??
"",required:!0,autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would d\
o. Looking at it changes nothing.")),t("form",{class:"tools ask box",onSubmit:f,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",c("namespace","\
namespaces")),t("select",{name:"change","aria-label":"Change",value:l,onChange:u=>m(u.target.value)},Object.entries(oe).filter(([,u])=>!u.write||a.data?.write).
map(([u,i])=>t("option",{key:u,value:u},i.title))),oe[l].fields.map(u=>u==="mode"?t("select",{key:u,name:u,"aria-label":"Mode",value:r.mode??"Propagate"},Qn.map(
i=>t("option",{key:i,value:i},i))):c(u,u==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},p.map(u=>t("option",{key:u.name,value:u.name}))),t("but\
ton",{class:"primary"},"Preview")),d&&t(Gn,{key:n.toString(),fields:r,version:e,session:a.data}))}function Gn({fields:e,version:n,session:s}){let[a,o]=k(!1),{namespace:r,
...l}=e,m=S(`/api/namespaces/${encodeURIComponent(r)}/plan?`+new URLSearchParams(l),n,a);return a?t("p",{class:"box good",role:"status"},"Done. ",e.change==="de\
lete"?"The namespace is being deleted.":"Copies follow within seconds."," ",t(C,{to:e.change==="delete"?"/":T(e.child??r)},e.change==="delete"?"Forest":e.child??
r)):t(N,{from:m},d=>t(Wn,{plan:d,fields:e,write:!!s?.write,done:()=>o(!0)}))}function Wn({plan:e,fields:n,write:s,done:a}){let o=e.status,[r,l]=k(!1),m=o.namespaces??
[],d=r?m:m.slice(0,50),f=$t(m),p=o.hidden?.map(c=>c.group?`${c.resource}.${c.group}`:c.resource);return t("div",{"data-plan":n.change},o.refusals?.map(c=>t("sec\
tion",{class:"box bad",role:"alert",key:c.message},t("h2",null,"It would be refused: ",c.reason),t("p",{class:"message"},c.message))),t("section",{class:"box"},
t("div",{class:"head"},t("div",{role:"status"},t("h2",null,e.summary)),t("span",{class:"grow"}),e.see&&t($,{command:e.see})),o.exceededQuotas&&t(b,null,t("h3",{
class:"bad"},"Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",
{class:"num"},"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,o.exceededQuotas.map(c=>t("tr",{key:c.namespace+c.name+c.resource},
t("td",null,c.namespace,"/",c.name),t("td",null,c.resource),t("td",{class:"num","data-label":"Used"},c.used),t("td",{class:"num","data-label":"Moved"},c.moved),
t("td",{class:"num","data-label":"Limit"},c.limit)))))),!!o.omittedExceededQuotas&&t("p",{class:"note"},L(o.omittedExceededQuotas,"limit")," more would be excee\
ded, of quotas that you may not get, or that are too many."),f.length>0&&t(b,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},f.map(c=>t("li",{key:c.
text},t("span",{class:"mark "+c.change},c.change==="Gained"?"+":"−"),c.text," ",t("span",{class:"dim"},"in ",c.namespaces.length>3?L(c.namespaces.length,"name\
space"):c.namespaces.join(", "))))))),t(H,{list:[...p?[`Left out, because you may not list them in ${n.namespace}: ${p.join(", ")}`]:[],...(o.unknown??[]).map(c=>"\
Not known: "+c)]}),d.map(c=>t(Yn,{key:c.name,plan:c,open:m.length<=5})),d.length<m.length&&t("button",{onClick:()=>l(!0)},"Show ",m.length-d.length," more names\
paces"),t(zn,{plan:e,fields:n,write:s,done:a}))}var qn={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},Xt={Add:"added",Change:"changed",Overwrite:"over\
written",Remove:"removed",Keep:"kept"};function Yn({plan:e,open:n}){let s=e.objects??[],a=Object.entries(Xt).map(([o,r])=>[s.filter(l=>l.action===o).length,r]).
filter(([o])=>o);return t("details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t("h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},
e.fate.toLowerCase())," ",t("span",{class:"dim"},a.map(([o,r])=>`${o} ${r}`).join(", "))),t("ul",{class:"plain"},e.labels?.map(o=>t("li",{key:o.key},t("span",{class:"\
mark"},"~"),"label ",t("code",null,o.key),": ",o.before||"none"," → ",o.after||"none")),e.quotas?.map(o=>t("li",{key:o.name+o.resource,class:"bad"},t("span",{
class:"mark"},"!"),"ResourceQuota ",o.name," allows ",o.hard," of ",o.resource,", and there would be ",o.planned)),s.map(o=>t("li",{key:o.group+o.kind+o.name},t(
"span",{class:"mark "+o.action},qn[o.action]),t("span",{class:"hidden"},Xt[o.action],": "),o.kind,"/",o.name,o.source&&t("span",{class:"dim"}," from ",o.source),
o.difference&&t("details",null,t("summary",null,"difference"),t(xe,{text:o.difference}))))))}function zn({plan:e,fields:n,write:s,done:a}){let o=B(null),[r,l]=k(
""),[m,d]=k(!1),[f,p]=k(),c=n.change==="delete",{namespace:u,...i}=n,y=async h=>{h.preventDefault(),d(!0),p(void 0);try{await Ct(`/api/namespaces/${encodeURIComponent(
u)}/changes`,{...i,confirm:r}),a()}catch(_){p(_),d(!1)}};return e.status.refusals?.length?null:t("section",{class:"box","aria-labelledby":"make"},t("div",{class:"\
head"},t("h2",{id:"make"},"Make the change"),t("span",{class:"grow"}),t($,{command:e.make})),s?e.writable?t("button",{class:c?"danger":"primary",onClick:()=>o.current.
showModal()},"Apply …"):t("p",{class:"dim"},"The page does not make this change. Run the command."):t("p",{class:"dim"},"The page is read-only. Run the comman\
d, or start the page with ",t("code",null,"kubectl hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:o,"aria-labelledby":"confirm",onClose:()=>{l(""),p(void 0)}},
t("form",{onSubmit:y},t("h2",{id:"confirm"},e.summary.replace(" would "," will ")),t("p",null,t("code",null,e.make)),c&&t("p",null,t("label",null,"What is in it\
 is lost. Type its name to delete it: ",t("input",{value:r,onInput:h=>l(h.target.value),"aria-label":"Name of the namespace",autocomplete:"off",spellcheck:!1}))),
f&&t(V,{problem:f.problem}),t("div",{class:"tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>o.current.close()},"Cancel"),t("button",{class:c?
"danger":"primary",disabled:m||c&&r!==u},m?"Applying …":"Apply")))))}var Jn={connecting:"Connecting",live:"Live",lost:"Not connected"},Xn=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],Zn=15e3;
function Vn(){let[e,n]=k(location.pathname),[,s]=k(location.search),[a,o]=k(0),[r,l]=St(),m=S("/api/session",0);U(()=>{let p=()=>{n(location.pathname),s(location.
search)},c=setInterval(()=>document.hidden||o(i=>i+1),Zn),u=i=>{i.key!=="/"||i.ctrlKey||i.metaKey||i.altKey||i.target.matches?.("input, textarea, select")||(i.preventDefault(),
location.pathname!=="/"&&X("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",p),addEventListener("keydown",u),
()=>{clearInterval(c),removeEventListener("popstate",p),removeEventListener("keydown",u)}},[]);let d=B(e);U(()=>{let p=document.querySelector("main");!p||e===d.
current||(d.current="",p.tabIndex=-1,p.focus({preventScroll:!0}))},[e]);let f=m.data;return t(b,null,t("header",null,t(C,{to:"/",class:"brand"},t("img",{src:"/i\
con.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},Xn.map(([p,c])=>t(C,{key:p,to:p,"aria-current":e===p?"p\
age":void 0},c))),t("span",{class:"context"},f&&t(b,null,t("b",{title:"Cluster "+f.cluster},f.context||"no context"),t("span",{class:"dim"}," ",f.user))),t("spa\
n",{class:"grow"}),f&&t("span",{class:"wide tag"+(f.write?" warn":"")},f.write?"may write":"read-only"),t("span",{class:"state "+r,role:"status"},Jn[r])),m.error?.
status===401?t("main",null,t(V,{problem:m.error.problem})):t(es,{key:e,path:e,version:l,tick:l+a}))}function es({path:e,version:n,tick:s}){let a=e.split("/").slice(
1).map(o=>{try{return decodeURIComponent(o)}catch{return o}});if(e==="/")return t(Yt,{version:n});if(e==="/quotas")return t(Dt,{version:n});if(e==="/plan")return t(
Zt,{version:n});if(e==="/admin")return t(Bt,{version:s});if(a[0]==="ns"&&a[1]){if(a.length===2)return t(Ot,{name:a[1],version:s});if(a.length===3&&a[2]==="acces\
s")return t(It,{name:a[1],version:s});if(a.length===4)return t(zt,{namespace:a[1],resource:a[2],name:a[3],version:s})}return t("main",null,t("h1",{class:"hidden"},
"No such page"),t(V,{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}Et();Ke(t(Vn,null),document.getElementById(
"app"));
