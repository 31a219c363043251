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
var Le="http://www.w3.org/2000/svg",Qe="http://www.w3.org/1999/xhtml",ot="http://www.w3.org/1998/Math/MathML";var se={},ae=[],rt=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var le=Array.isArray;function F(e,n){for(let s in n)e[s]=n[s];return e}function Me(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var oe=ae.slice;function it(e,n,s,a){let o,r,l;for(;n=n._parent;)if((o=n._component)&&!o._processingException)try{if(r=o.constructor,r&&r.getDerivedStateFromError!=null&&(o.setState(
r.getDerivedStateFromError(e)),l=o._dirty),o.componentDidCatch!=null&&(o.componentDidCatch(e,a||{}),l=o._dirty),l)return o._pendingError=o}catch(u){e=u}throw e}var ln={_catchError:it},w=ln;var cn=0;function t(e,n,s){let a={},o,r,l;for(l in n)l=="key"?o=n[l]:l=="ref"?r=n[l]:a[l]=n[l];if(arguments.length>2&&(a.children=arguments.length>3?oe.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)a[l]===void 0&&(a[l]=e.defaultProps[l]);return ce(e,a,o,r,null)}function ce(e,n,s,a,o){
let r={type:e,props:n,key:s,ref:a,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:o==null?++cn:o,_index:-1,_flags:0};
return o==null&&w.vnode!=null&&w.vnode(r),r}function _(e){return e.children}function pe(e,n){this.props=e,this.context=n}pe.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=F({},this.state),typeof e=="function"&&(e=e(F({},s),this.props)),e&&F(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),Pe(this))};pe.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Pe(this))};pe.prototype.render=_;function W(e,n){if(n==null)return e._parent?
W(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?W(e):null}
function pn(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,a=[],o=[],r=F({},n);r._original=n._original+1,w.vnode&&w.vnode(r),ue(e._parentDom,r,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,a,s==null?W(n):s,!!(n._flags&32),o),r._original=n._original,r._parent._children[r._index]=r,Ae(a,r,o),n._dom=n._parent=
null,r._dom!=s&&lt(r)}}function lt(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),lt(e)}var re=[],Ke,un=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Pe(e){
(!e._dirty&&(e._dirty=!0)&&re.push(e)&&!Te._rerenderCount++||Ke!=w.debounceRendering)&&(Ke=w.debounceRendering,(Ke||un)(Te))}var mn=(e,n)=>e._vnode._depth-n._vnode.
_depth;function Te(){try{let e,n=1;for(;re.length;)re.length>n&&re.sort(mn),e=re.shift(),n=re.length,pn(e)}finally{re.length=Te._rerenderCount=0}}Te._rerenderCount=
0;function We(e,n,s,a,o,r,l,u,d,f,m){let c,p,i,b,y,h=a&&a._children||ae,L=n.length;for(d=dn(s,n,h,d,L),c=0;c<L;c++){if(i=s._children[c],i==null)continue;p=i._index!=
-1&&h[i._index]||se,i._index=c;let R=ue(e,i,p,o,r,l,u,d,f,m);b=i._dom,i.ref&&p.ref!=i.ref&&(p.ref&&$e(p.ref,null,i),m.push(i.ref,i._component||b,i)),y==null&&b!=
null&&(y=b),i._flags&4?(d=ct(i,d,e),p._dom&&(p._dom=null)):typeof i.type=="function"&&R!==void 0?d=R:b&&(d=b.nextSibling),i._flags&=-7}return s._dom=y,d}function dn(e,n,s,a,o){
let r,l,u,d=s.length,f=d,m=0;for(e._children=new Array(o),r=0;r<o;r++){if(l=n[r],l==null||typeof l=="boolean"||typeof l=="function"){e._children[r]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[r]=ce(null,l,null,null,null):le(l)?l=e._children[r]=ce(_,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[r]=ce(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[r]=l;let c=r+m;l._parent=e,
l._depth=e._depth+1;let p=l._index=fn(l,s,c,f);u=null,p!=-1&&(u=s[p],f--,u&&(u._flags|=2)),u==null||u._original==null?(p==-1&&(o>d?m--:o<d&&m++),typeof l.type!=
"function"&&(l._flags|=4)):p!=c&&(p==c-1?m--:p==c+1?m++:(p>c?m--:m++,l._flags|=4))}if(f)for(r=0;r<d;r++)u=s[r],u!=null&&(u._flags&2)==0&&(u._dom==a&&(a=W(u)),Ge(
u,u));return a}function ct(e,n,s){if(typeof e.type=="function"){let a=e._children;for(let o=0;a&&o<a.length;o++)a[o]&&(a[o]._parent=e,n=ct(a[o],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=W(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function fn(e,n,s,a){let o=e.key,r=e.type,l=n[s],u=l!=null&&(l._flags&2)==0,d=a>(u?1:0);if(l===null&&o==null||u&&o==l.key&&r==l.type)return s;if(d){let f=s-1,m=s+
1;for(;f>=0||m<n.length;){let c=f>=0?f--:m++;if(l=n[c],l!=null&&(l._flags&2)==0&&o==l.key&&r==l.type)return c}}return-1}var dt=Math.random().toString(8),qe="__d"+dt,Ne="__a"+dt;function pt(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||rt.test(
n)?e[n]=s:e[n]=s+"px"}var gn=/(PointerCapture)$|Capture$/i,ft=0;function ve(e,n,s,a,o){let r;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof a==
"string"&&(e.style.cssText=a=""),a)for(n in a)s&&n in s||pt(e.style,n,"");if(s)for(n in s)(!a||s[n]!=a[n])&&pt(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){r=n!=
(n=n.replace(gn,"$1"));let l=n.toLowerCase();l in e||n=="onFocusOut"||n=="onFocusIn"?n=l.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+r]=
s,s?a?s[Ne]=a[Ne]:(s[Ne]=ft,e.addEventListener(n,r?mt:ut,r)):e.removeEventListener(n,r?mt:ut,r)}else{if(o==Le)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function gt(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[qe]==null)n[qe]=ft++;else if(n[qe]<s[Ne])return;return s(w.event?w.event(n):n)}}}var ut=gt(!1),mt=gt(!0);function ue(e,n,s,a,o,r,l,u,d,f){let m,c=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(d=!!(s._flags&32),u=n._dom=s._dom,r=[u]),(m=w._diff)&&m(n);
e:if(typeof c=="function"){let p=l.length;try{let i,b,y,h,L,R,v=n.props,C=c.prototype&&c.prototype.render;m=c.contextType;let O=m&&a[m._id],Y=m?O?O.props.value:
m._defaultValue:a;if(s._component?(i=n._component=s._component,R=i._processingException=i._pendingError):(C?n._component=i=new c(v,Y):(n._component=i=new pe(v,Y),
i.constructor=c,i.render=_n),O&&O.sub(i),i.state||(i.state={}),i._globalContext=a,b=i._dirty=!0,i._renderCallbacks=[],i._stateCallbacks=[]),C&&i._nextState==null&&
(i._nextState=i.state),C&&c.getDerivedStateFromProps!=null&&(i._nextState==i.state&&(i._nextState=F({},i._nextState)),F(i._nextState,c.getDerivedStateFromProps(
v,i._nextState))),y=i.props,h=i.state,i._vnode=n,b)C&&c.getDerivedStateFromProps==null&&i.componentWillMount!=null&&i.componentWillMount(),C&&i.componentDidMount!=
null&&i._renderCallbacks.push(i.componentDidMount);else{if(C&&c.getDerivedStateFromProps==null&&v!==y&&i.componentWillReceiveProps!=null&&i.componentWillReceiveProps(
v,Y),n._original==s._original||!i._force&&i.shouldComponentUpdate!=null&&i.shouldComponentUpdate(v,i._nextState,Y)===!1){n._original!=s._original&&(i.props=v,i.
state=i._nextState,i._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(Se=>{Se&&(Se._parent=n)}),ae.push.apply(i._renderCallbacks,i._stateCallbacks),
i._stateCallbacks=[],i._renderCallbacks.length&&l.push(i),u=W(s);break e}i.componentWillUpdate!=null&&i.componentWillUpdate(v,i._nextState,Y),C&&i.componentDidUpdate!=
null&&i._renderCallbacks.push(()=>{i.componentDidUpdate(y,h,L)})}i.context=Y,i.props=v,i._parentDom=e,i._force=!1;let ne=w._render,x=0;if(C)i.state=i._nextState,
i._dirty=!1,ne&&ne(n),m=i.render(i.props,i.state,i.context),ae.push.apply(i._renderCallbacks,i._stateCallbacks),i._stateCallbacks=[];else do i._dirty=!1,ne&&ne(
n),m=i.render(i.props,i.state,i.context),i.state=i._nextState;while(i._dirty&&++x<25);i.state=i._nextState,i.getChildContext!=null&&(a=F(F({},a),i.getChildContext())),
C&&!b&&i.getSnapshotBeforeUpdate!=null&&(L=i.getSnapshotBeforeUpdate(y,h));let j=m!=null&&m.type===_&&m.key==null?yt(m.props.children):m;u=We(e,le(j)?j:[j],n,s,
a,o,r,l,u,d,f),i.base=n._dom,n._flags&=-161,i._renderCallbacks.length&&l.push(i),R&&(i._pendingError=i._processingException=null)}catch(i){if(l.length=p,n._original=
null,d||r!=null){if(i.then){for(n._flags|=d?160:128;u&&u.nodeType==8&&u.nextSibling;)u=u.nextSibling;r!=null&&(r[r.indexOf(u)]=null),n._dom=u}else if(r!=null)for(let b=r.
length;b--;)Me(r[b])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),i.then||bt(n),w._catchError(i,n,s)}}else r==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):u=n._dom=yn(s._dom,n,s,a,o,r,l,d,f);return(m=w.diffed)&&m(n),n._flags&128?void 0:u}function bt(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(bt))}function Ae(e,n,s){for(let a=0;a<s.length;a++)$e(s[a],s[++a],s[++a]);w._commit&&w._commit(n,e),e.some(a=>{try{e=a.
_renderCallbacks,a._renderCallbacks=[],e.some(o=>{o.call(a)})}catch(o){w._catchError(o,a._vnode)}})}function yt(e){return typeof e!="object"||e==null||e._depth>
0?e:le(e)?e.map(yt):e.constructor!==void 0?null:F({},e)}function yn(e,n,s,a,o,r,l,u,d){let f=s.props||se,m=n.props,c=n.type,p,i,b,y,h,L,R;if(c=="svg"?o=Le:c=="m\
ath"?o=ot:o||(o=Qe),r!=null){for(p=0;p<r.length;p++)if(h=r[p],h&&"setAttribute"in h==!!c&&(c?h.localName==c:h.nodeType==3)){e=h,r[p]=null;break}}if(e==null){if(c==
null)return document.createTextNode(m);e=document.createElementNS(o,c,m.is&&m),u&&(w._hydrationMismatch&&w._hydrationMismatch(n,r),u=!1),r=null}if(c==null)f!==m&&
(!u||e.data!=m)&&(e.data=m);else{if(r=c=="textarea"&&m.defaultValue!=null?null:r&&oe.call(e.childNodes),!u&&r!=null)for(f={},p=0;p<e.attributes.length;p++)h=e.attributes[p],
f[h.name]=h.value;for(p in f)h=f[p],p=="dangerouslySetInnerHTML"?b=h:p!="children"&&!(p in m)&&!(p=="value"&&"defaultValue"in m)&&!(p=="checked"&&"defaultChecke\
d"in m)&&ve(e,p,null,h,o);for(p in m)h=m[p],p=="children"?y=h:p=="dangerouslySetInnerHTML"?i=h:p=="value"?L=h:p=="checked"?R=h:(!u||typeof h=="function")&&f[p]!==
h&&ve(e,p,h,f[p],o);if(i)!u&&(!b||i.__html!=b.__html&&i.__html!=e.innerHTML)&&(e.innerHTML=i.__html),n._children=[];else if(b&&(e.innerHTML=""),We(n.type=="temp\
late"?e.content:e,le(y)?y:[y],n,s,a,c=="foreignObject"?Qe:o,r,l,r?r[0]:s._children&&W(s,0),u,d),r!=null)for(p=r.length;p--;)Me(r[p]);(!u||c=="textarea")&&(p="va\
lue",c=="progress"&&L==null?e.removeAttribute("value"):L!=void 0&&(L!==e[p]||c=="progress"&&!L||c=="option"&&L!=f[p])&&ve(e,p,L,f[p],o),p="checked",R!=void 0&&R!=
e[p]&&ve(e,p,R,f[p],o))}return e}function $e(e,n,s){try{if(typeof e=="function"){let a=typeof e._unmount=="function";a&&e._unmount(),(!a||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(a){w._catchError(a,s)}}function Ge(e,n,s){let a;if(w.unmount&&w.unmount(e),(a=e.ref)&&(!a.current||a.current==e._dom)&&$e(a,null,n),
(a=e._component)!=null){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(o){w._catchError(o,n)}a.base=a._parentDom=a._globalContext=null}if(a=e._children)
for(let o=0;o<a.length;o++)a[o]&&Ge(a[o],n,s||typeof e.type!="function");s||Me(e._dom),e._component=e._parent=e._dom=void 0}function _n(e,n,s){return this.constructor(
e,s)}function ze(e,n,s){n==document&&(n=document.documentElement),w._root&&w._root(e,n);let a=typeof s=="function",o=a?null:s&&s._children||n._children;e=(!a&&s||n).
_children=t(_,null,[e]);let r=[],l=[];ue(n,e,o||se,se,n.namespaceURI,!a&&s?[s]:o?null:n.firstChild?oe.call(n.childNodes):null,r,!a&&s?s:o?o._dom:n.firstChild,a,
l),Ae(r,e,l),e.props.children=null}var hn=0;function Ye(e){function n(s){if(!this.getChildContext){let a=new Set,o={};o[n._id]=this,this.getChildContext=()=>o,this.componentWillUnmount=()=>{a=null},
this.shouldComponentUpdate=function(r){this.props.value!=r.value&&a.forEach(l=>{l._force=!0,Pe(l)})},this.sub=r=>{a.add(r);let l=r.componentWillUnmount;r.componentWillUnmount=
()=>{a&&a.delete(r),l&&l.call(r)}}}return s.children}return n._id="__cC"+hn++,n._defaultValue=e,n.Consumer=(s,a)=>s.children(a),n.Provider=n._contextRef=n.Consumer.
contextType=n,n}var me,P,Xe,De=0,Ct=[],A=w,_t=A._diff,ht=A._render,vt=A.diffed,xt=A._commit,kt=A.unmount,wt=A._root,vn=35,Je;A._diff=e=>{P=null,_t&&_t(e)};A._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),wt&&wt(e,n)};A._render=e=>{ht&&ht(e),P=e._component,me=0;let n=P.__hooks;n&&(Xe===P?(n._pendingEffects=
[],P._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(Oe),n._pendingEffects.
some(Ze),n._pendingEffects=[],me=0)),Xe=P};A.diffed=e=>{vt&&vt(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&En(Ct.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),Xe=P=null};A._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(Oe),s._renderCallbacks=
s._renderCallbacks.filter(a=>a._value?Ze(a):!0)}catch(a){n.some(o=>{o._renderCallbacks&&(o._renderCallbacks=[])}),n=[],A._catchError(a,s._vnode)}}),xt&&xt(e,n)};
A.unmount=e=>{kt&&kt(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(a=>{try{Oe(a)}catch(o){s=o}}),n.__hooks=void 0,s&&A._catchError(s,n._vnode)}};
function je(e,n){A._hook&&A._hook(P,e,De||n),De=0;let s=P.__hooks||(P.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function k(e){return De=1,xn(Lt,e)}function xn(e,n,s){let a=je(me++,2);if(a._reducer=e,!a._component&&(a._value=[s?s(n):Lt(void 0,n),o=>{let r=a._nextValue?a._nextValue[0]:
a._value[0],l=a._reducer(r,o);r!==l&&(a._nextValue=[l,a._value[1]],a._component.setState({}))}],a._component=P,!P._hasScuFromHooks)){let l=function(u,d,f){if(!a.
_component.__hooks)return!0;let m=!1,c=a._component.props!==u;if(a._component.__hooks._list.some(p=>{if(p._nextValue){m=!0;let i=p._value[0];p._value=p._nextValue,
p._nextValue=void 0,i!==p._value[0]&&(c=!0)}}),o){let p=o.call(this,u,d,f);return m?p||c:p}return!m||c};P._hasScuFromHooks=!0;let o=P.shouldComponentUpdate,r=P.
componentWillUpdate;P.componentWillUpdate=function(u,d,f){if(this._force){let m=o;o=void 0,l(u,d,f),o=m}r&&r.call(this,u,d,f)},P.shouldComponentUpdate=l}return a.
_nextValue||a._value}function N(e,n){let s=je(me++,3);!A._skipEffects&&St(s._args,n)&&(s._value=e,s._pendingArgs=n,P.__hooks._pendingEffects.push(s))}function B(e){return De=5,J(()=>({current:e}),[])}function J(e,n){let s=je(me++,7);return St(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function G(e){let n=P.context[e._id],s=je(me++,9);return s._context=e,n?(s._value==null&&(s._value=!0,n.sub(P)),n.props.value):e._defaultValue}function kn(){let e;for(;e=Ct.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(Oe),n._pendingEffects.some(Ze),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],A._catchError(s,e._vnode)}}}var Et=typeof requestAnimationFrame=="function";function wn(e){let n=()=>{clearTimeout(s),Et&&cancelAnimationFrame(
a),setTimeout(e)},s=setTimeout(n,vn),a;Et&&(a=requestAnimationFrame(n))}function En(e){(e===1||Je!==A.requestAnimationFrame)&&(Je=A.requestAnimationFrame,(Je||wn)(
kn))}function Oe(e){let n=P,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),P=n}function Ze(e){let n=P;e._cleanup=e._value(),P=n}function St(e,n){return!e||
e.length!==n.length||n.some((s,a)=>s!==e[a])}function Lt(e,n){return typeof n=="function"?n(e):n}var Mt="hns-token";function Tt(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(Mt,e),history.replaceState(null,"",location.
pathname+location.search))}var X=class extends Error{constructor(s,a){super(a.title);this.status=s;this.problem=a}status;problem},Cn={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function Ve(e,n,s){let a;try{a=await fetch(e,
{signal:n,credentials:"omit",cache:"no-store",headers:{"X-HNS-Token":sessionStorage.getItem(Mt)??"",...s?{"Content-Type":"application/json"}:{}},...s?{method:"P\
OST",body:JSON.stringify(s)}:{}})}catch(r){throw n?.aborted?r:new X(0,Cn)}if(a.ok)return a;let o={title:`The server answers ${a.status}`};try{o=await a.json()}catch{}
throw new X(a.status,o)}async function Pt(e,n){await Ve(e,void 0,n)}var Sn=e=>({title:"It has been deleted",detail:e.detail,hint:"It was there when this page wa\
s opened."});function M(e,n,s=!1){let[a,o]=k({path:e}),r=B(),l=B(n);return N(()=>{if(s)return;let u=new AbortController,d=0,f=!1,m=!1,c=0,p=0,i=async()=>{f=!0,m=
!1;let b=0,y=performance.now();try{let h=await(await Ve(e,u.signal)).json();if(u.signal.aborted)return;c=0,p=performance.now()+4*(performance.now()-y),o({path:e,
data:h,at:new Date})}catch(h){if(u.signal.aborted)return;let L=h instanceof X?h:new X(0,{title:"The answer cannot be read",detail:String(h)}),{status:R}=L;o(v=>v.
path!==e||R===403?{path:e,error:L}:R===404?{path:e,error:v.data?new X(404,Sn(L.problem)):v.error??L}:{...v,error:L}),(R===0||R>=500)&&(b=Math.min(30,2**++c)*1e3)}
f=!1,m?r.current():b&&(d=window.setTimeout(i,b))};return r.current=()=>{m=!0,!f&&(clearTimeout(d),d=window.setTimeout(i,Math.max(0,p-performance.now())))},i(),()=>{
u.abort(),clearTimeout(d)}},[e,s]),N(()=>{l.current!==n&&r.current?.(),l.current=n},[n]),a.path===e?a:{}}function At(){let[e,n]=k("connecting"),[s,a]=k(0);return N(
()=>{let o,r=0,l=0,u=!1,d=()=>{u||document.hidden||(r=window.setTimeout(f,Math.min(15,2**l++)*1e3))},f=async()=>{clearTimeout(r);let c=o=new AbortController,p=0,
i=()=>{clearTimeout(p),p=window.setTimeout(()=>c.abort(),25e3)};try{i();let b=(await Ve("/api/changes",c.signal)).body.pipeThrough(new TextDecoderStream).getReader();
for(let y=await b.read();!y.done;y=await b.read())i(),l=0,n("live"),y.value.includes("changed")&&a(h=>h+1)}catch(b){b instanceof X&&b.status===401&&(u=!0)}clearTimeout(
p),!(o!==c||u)&&(document.hidden||(n("lost"),a(b=>b+1)),d())},m=()=>{clearTimeout(r),o?.abort(),o=void 0,document.hidden||(l=0,a(c=>c+1),f())};return document.addEventListener(
"visibilitychange",m),document.hidden||f(),()=>{u=!0,clearTimeout(r),o?.abort(),document.removeEventListener("visibilitychange",m)}},[]),[e,s]}function $t(e){let n=new Map;for(let r of e)n.set(r.name,{member:r,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let r of n.values()){let l=r.
member.parent?n.get(r.member.parent):void 0;r.parentMissing=!!r.member.parent&&!l,l?l.children.push(r):s.push(r)}let a=new Set,o=r=>{let l=[r];a.add(r);for(let u=0;u<
l.length;u++){l[u].children=l[u].children.filter(d=>!a.has(d));for(let d of l[u].children)a.add(d),l.push(d)}for(let u=l.length-1;u>=0;u--){let d=l[u];d.problems=
d.member.problems?.length??0;for(let f of d.children)d.problems+=f.problems,d.descendants+=f.descendants+1;Rt(d.children)}};s.forEach(o);for(let r of n.values())
a.has(r)||(s.push(r),o(r));return Rt(s)}function Rt(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function Ln(e,n){
if(n.problems&&!e.problems?.length||n.mine&&!n.mine.has(e.name))return!1;let s=n.text.trim().toLowerCase(),a=s.indexOf("=");return a>0?e.labels?.[n.text.trim().
slice(0,a)]?.toLowerCase()===s.slice(a+1):e.name.includes(s)}function de(e){return e.problems||!!e.mine||e.text.trim()!==""}function fe(e,n,s){let a=de(n),o=new Set;
if(a){let f=[];for(let m of e)f.push({node:m,above:[]});for(let m=f.pop();m;m=f.pop()){if(Ln(m.node.member,n)){o.add(m.node);for(let p of m.above)o.add(p)}let c=m.
node.children.length?[...m.above,m.node]:m.above;for(let p of m.node.children)f.push({node:p,above:c})}}let r=f=>a?f.filter(m=>o.has(m)):f,l=[],u=[],d=(f,m,c)=>{
for(let p=f.length-1;p>=0;p--)u.push({node:f[p],depth:m,parent:c,expanded:!1,position:p+1,siblings:f.length})};d(r(e),0,-1);for(let f=u.pop();f;f=u.pop()){let m=r(
f.node.children);f.expanded=m.length>0&&(a||s(f.node)),l.push(f),f.expanded&&d(m,f.depth+1,l.length-1)}return l}function Nt(e,n,s){let a=Math.max(0,Math.min(n-Math.
floor(s/2),e-s));return[a,Math.min(e,a+s)]}function Z(e){let n=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();return n.charAt(0).toUpperCase()+n.slice(1)}function xe(e,n=Date.
now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));return s<120?s+"s":s<3*3600?Math.floor(s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*
365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function S(e,n,s=n+"s"){return`${e.toLocaleString("en")} ${e===1?n:s}`}var Ut=e=>Math.round(e*100)+
"%";function Mn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","G","T","P","E"].indexOf(e);return n>=0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:
1}function ke(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/Mn(s)).toFixed(3)+s}function Dt(e,n,s){let a={name:e.namespace,own:0,sum:0,children:[]},o=new Map([[a.
name,a]]);for(let{namespace:l,used:u}of e.namespaces){if(!u[n])continue;let d=o.get(l),f=[];for(let i=l;i&&!o.has(i)&&!f.includes(i);i=s.get(i))f.push(i);let m=f.
length&&s.get(f[f.length-1]),c=m&&o.get(m)||a,p=m&&o.has(m)?f:f.slice(0,1);for(let i of p.reverse())d={name:i,own:0,sum:0,children:[]},c.children.push(d),o.set(
i,d),c=d;d.own=u[n]}let r=l=>(l.sum=l.own+l.children.reduce((u,d)=>u+r(d),0),l.children.sort((u,d)=>d.sum-u.sum||(u.name<d.name?-1:1)),l.sum);return r(a),a}function jt(e,n){
let s=o=>o.value*(1-o.share),a=new Map;for(let o of e)if(n.includes(o.namespace)&&!o.scoped)for(let r of o.limits){let l=a.get(r.resource);(!l||s(r)<s(l.limit))&&
a.set(r.resource,{quota:o,limit:r})}return[...a.values()].sort((o,r)=>r.limit.share-o.limit.share)}function Ot(e){let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.
replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+`\r
`).join("")}function Fe(e){return e.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g,
n=>`⟨U+${n.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function Ft(e){let n=new Map;for(let s of e)for(let a of s.access??[]){let o=`${a.kind}\
 ${a.namespace?a.namespace+"/":""}${a.name} ${a.change==="Gained"?"gains":"loses"} ${a.roleKind}/${a.role}`;n.has(o)||n.set(o,{change:a.change,text:o,namespaces:[]}),
n.get(o).namespaces.push(s.name)}return[...n.values()]}var Ie=500;function It(e){let r=[],l=e.map(({node:c,expanded:p})=>c.member.name+(!p&&c.descendants?`  +${c.
descendants}`:""));e.forEach((c,p)=>{r[c.depth]=Math.max(r[c.depth]??0,l[p].length*7.6+64)});let u=[];r.reduce((c,p,i)=>(u[i]=c,c+p),16);let d=e.map((c,p)=>({node:c.
node,name:c.node.member.name,label:l[p],x:u[c.depth],y:0,end:u[c.depth]+22+l[p].length*7.6,title:[c.node.member.name,...(c.node.member.problems??[]).map(i=>`${Z(
i.reason)}: ${i.message}`)].join(`
`)})),f=e.map(()=>[]);e.forEach((c,p)=>{c.parent>=0&&(f[c.parent].push(p),d[p].parent=d[c.parent])});let m=0;e.forEach((c,p)=>{f[p].length||(d[p].y=16+(m+++.5)*
24)});for(let c=e.length-1;c>=0;c--){let p=f[c];p.length&&(d[c].y=(d[p[0]].y+d[p[p.length-1]].y)/2)}return{nodes:d,width:Math.ceil((u[u.length-1]??16)+(r[r.length-
1]??0)),height:Math.ceil(32+m*24)}}function V(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function E({to:e,children:n,...s}){return t("a",{href:e,onClick:o=>{
o.button||o.ctrlKey||o.metaKey||o.shiftKey||o.altKey||(o.preventDefault(),V(e))},...s},n)}var Tn=w.vnode;w.vnode=e=>{e.type===null&&typeof e.props=="string"?e.props=
Fe(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=Fe(e.props.title)),Tn?.(e)};function D(e){N(()=>{document.title=Fe(e)+" · hns"},[e])}function ee(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function we(e,n,s){let a=document.createElement("a");a.href=URL.createObjectURL(new Blob([s],{type:n})),a.download=e,a.click(),
setTimeout(()=>URL.revokeObjectURL(a.href),1e4)}function H({list:e}){return t(_,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+n.slice(1))))}
var T=e=>"/ns/"+e,Q=(e,n,s)=>`/ns/${e}/${n}/${encodeURIComponent(s)}`,et=e=>/^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$/.test(e)?e:"'"+e.replaceAll("'","'\\''")+
"'";function Ht({text:e,title:n}){let[s,a]=k(!1);return t("button",{onClick:()=>navigator.clipboard.writeText(e).then(()=>{a(!0),setTimeout(()=>a(!1),1500)})},t(
"span",{"aria-live":"polite"},s?"Copied":n))}function $({command:e}){let[n,s]=k(!1);return t("button",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).
then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},t("code",null,e),t("span",{"aria-live":"polite"},n?"Copied":"Copy"))}
function te({problem:e}){return t("section",{class:"box bad",role:"alert"},t("h2",null,e.title),e.missingPermission&&t("p",null,"Missing permission: ",t("code",
null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),e.hint&&t("p",null,e.hint))}function U({from:e,children:n}){let[s,a]=k(!1);return N(()=>{
let o=setTimeout(()=>a(!0),200);return()=>clearTimeout(o)},[]),e.data?t(_,null,e.error&&t("p",{class:"stale",role:"status"},t("b",null,e.error.problem.title,"."),
" This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint),n(e.data)):e.error?t(te,{problem:e.error.problem}):t("p",{class:"dim",role:"status"},
s?"Reading from the cluster …":"")}function Ee({text:e}){return t("pre",{class:"diff",tabIndex:0,role:"group","aria-label":"Difference"},e.split(`
`).filter((n,s,a)=>n||s<a.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function ge({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?Z(n.type).toLowerCase():Z(n.type))," ",t("b",null,Z(n.reason))," ",t("span",{class:"message"},n.message))))}var Pn=30,An=200,K=Ye({roots:[],parents:new Map});function Bt(e){let n=M("/api/forest",e),s=n.data?.namespaces,a=J(()=>({roots:$t(s??[]),parents:new Map((s??[]).
map(o=>[o.name,o.parent]))}),[s]);return{...n,...a}}function Ce(e){let{parents:n}=G(K),s=[e];for(let a=n.get(e);a&&n.has(a)&&!s.includes(a);a=n.get(a))s.unshift(
a);return s}function Qt({name:e}){let{data:n,roots:s}=G(K),a=Ce(e),[o,r]=k(new Map);if(!n?.namespaces.length)return null;let u=fe(s,{text:"",problems:!1},({member:p})=>o.
get(p.name)??(n.namespaces.length<=Pn||a.includes(p.name))),[d,f]=Nt(u.length,u.findIndex(p=>p.node.member.name===e),An),m=(p,i)=>r(new Map(o).set(p,i)),c=p=>p>
0&&t("li",{class:"dim"},t(E,{to:"/"},S(p,"more")));return t("nav",{class:"trees","aria-label":"Trees"},t("ul",null,c(d),u.slice(d,f).map(({node:p,depth:i,expanded:b})=>{
let{member:y,children:h,problems:L}=p;return t("li",{key:y.name,style:{"--depth":Math.min(i,6)}},h.length?t("button",{class:"twist","aria-expanded":b,"aria-labe\
l":`Children of ${y.name}`,onClick:()=>m(y.name,!b)},b?"▾":"▸"):t("span",{class:"twist"}),t(E,{to:T(y.name),title:y.name,"aria-current":y.name===e?"page":void 0,
class:y.problems?.length?"bad":""},y.name),L>0&&(y.problems?.length||!b)&&t("span",{class:"bad",title:S(L,"problem")},"●",t("span",{class:"hidden"}," ",S(L,"p\
roblem"))))}),c(u.length-f)))}function Kt({version:e}){let n=M("/api/quotas",e),{parents:s}=G(K);return D("Quotas"),t("main",null,!n.data&&t("div",{class:"head"},t("h1",null,"Quotas")),t(U,{
from:n},a=>t(Rn,{data:a,parents:s})))}var be=e=>e>=1?"full":e>=.8?"high":"";function ye({limit:e,parts:n}){let s=a=>e.value>0?Math.min(100,a/e.value*100)+"%":"0\
%";return t("span",{class:"bar "+be(e.share),role:"meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.
share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},(n??[{name:"",value:e.share*e.value}]).map((a,o)=>t("i",{key:a.name,class:o%2?"odd":"",style:{width:s(a.value)},
title:a.name&&`${a.name}: ${ke(a.value,e.hard)}`})))}function Rn({data:e,parents:n}){let[s,a]=ee(),o=s.get("resource")??"",r=[...new Set(e.quotas.flatMap(f=>f.limits.
map(m=>m.resource)))].sort(),l=f=>Math.max(0,...f.limits.filter(m=>!o||m.resource===o).map(m=>m.share)),u=e.quotas.filter(f=>!o||f.limits.some(m=>m.resource===o)).
sort((f,m)=>+!!m.problems-+!!f.problems||l(m)-l(f)),d=e.quotas.filter(f=>f.limits.some(m=>m.share>=1)).length;return t(_,null,t("div",{class:"head"},t("h1",null,
"Quotas"),t("p",{class:"summary"},S(e.quotas.length,"quota"),", the fullest first",d>0&&t(_,null," · ",t("b",{class:"bad"},d," full"))),t($,{command:"kubectl h\
ns quota -A --tree"})),t(H,{list:e.notes}),r.length>1&&t("div",{class:"tools"},t("label",null,"Resource ",t("select",{value:o,onChange:f=>a(f.target.value?{resource:f.
target.value}:{})},t("option",{value:""},"all"),r.map(f=>t("option",{key:f,value:f},f))))),u.length?u.map(f=>t($n,{key:f.namespace+"/"+f.name,quota:f,parents:n,
only:o})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may see","."))}function $n({quota:e,parents:n,
only:s}){let[a,o]=k(""),r=e.limits.filter(l=>!s||l.resource===s);return t("section",{class:"box","aria-label":`Quota ${e.name} of ${e.namespace}`,"data-quota":e.
namespace+"/"+e.name},t("h2",null,t(E,{to:T(e.namespace)},e.namespace)," ",t("span",{class:"dim"},"/")," ",t(E,{to:Q(e.namespace,"hierarchicalresourcequotas.hnc\
.x-k8s.io",e.name)},e.name)," ",e.scoped&&t("span",{class:"tag"},"scoped")),e.problems&&t(ge,{list:e.problems}),r.map((l,u)=>{let d=Dt(e,l.resource,n),f=a===l.resource;
return t("div",{class:"limit",key:l.resource},t("button",{class:"twist","aria-expanded":f,"aria-label":`Use of ${l.resource} by namespace`,disabled:!d.children.
length&&!d.own,onClick:()=>o(f?"":l.resource)},f?"▾":"▸"),t("span",{class:"what"},l.resource,u===0&&e.limits.length>1&&!s&&l.share>0&&t("span",{class:"tag"},
"binds first")),t(ye,{limit:l,parts:e.omitted?void 0:[...d.own?[{name:e.namespace,value:d.own}]:[],...d.children.map(m=>({name:m.name,value:m.sum}))]}),t("span",
{class:"num "+be(l.share)},l.used," of ",l.hard," ",t("span",{class:"dim"},Ut(l.share))),f&&t("ul",{class:"use"},t(Wt,{use:d,limit:l})))}),r.length===0&&t("p",{
class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"note"},S(e.omitted,"namespace")," more use it than are listed."))}function Wt({use:e,limit:n}){let s={
...n,used:ke(e.sum,n.hard),share:n.value>0?e.sum/n.value:1};return t("li",null,t("div",{class:"branch"},t(E,{to:T(e.name)},e.name),t("span",{class:"num"},ke(e.sum,
n.hard),e.children.length>0&&t("span",{class:"dim"}," (",ke(e.own,n.hard)," itself)")),t(ye,{limit:s})),e.children.length>0&&t("ul",null,e.children.map(a=>t(Wt,
{key:a.name,use:a,limit:n}))))}function Gt({name:e,version:n}){let s=M("/api/namespaces/"+e,n);return D(e),t("main",null,!s.data&&t(He,{name:e,page:""}),t(U,{from:s},a=>t(Un,{ns:a,version:n})))}
var Nn=[["","Overview"],["access","Access"]];function He({name:e,page:n,path:s,abstract:a,children:o}){let r=Ce(e);return t(_,null,t(tt,{names:s??r,abstract:a}),
t("div",{class:"head"},t("h1",null,e),o),t("nav",{class:"tabs","aria-label":"Pages of "+e},Nn.map(([l,u])=>t(E,{key:l,to:T(e)+(l&&"/"+l),"aria-current":l===n?"p\
age":void 0},u)),t(E,{to:"/plan?namespace="+e},"Plan a change"),t(E,{to:Q(e,"hierarchies.hnc.x-k8s.io","hierarchy")},"Hierarchy as YAML")))}function tt({names:e,
abstract:n=[],object:s}){return t("nav",{"aria-label":"Path to the root",class:"path"},t("ol",null,t("li",null,t(E,{to:"/"},"Forest")),[...n].reverse().map(a=>t(
"li",{key:"a "+a,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},a)),e.map((a,o)=>t("li",{key:a},!s&&o===e.length-1?t("b",{"aria-current":"\
page"},a):t(E,{to:T(a)},a))),s&&t("li",null,t("b",{"aria-current":"page"},s))))}function Un({ns:e,version:n}){let s=[e.kind==="full"?"full namespace":e.kind,e.path.
length>1?`level ${e.path.length}`:"root",e.created&&`${xe(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&
e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return t(_,null,t(He,{name:e.name,page:"",path:e.path,abstract:e.
abstractAncestors},t("p",{class:"summary"},e.deleting&&t(_,null,t("b",{class:"bad"},"being deleted")," · "),s.join(" · ")),t($,{command:"kubectl hns describe "+
e.name})),e.excluded&&t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),t(H,{list:e.notes}),!!e.problems?.length&&t(
"section",{class:"box bad"},t("h2",null,S(e.problems.length,"problem")),t(ge,{list:e.problems})),t("div",{class:"columns"},t("section",{"aria-labelledby":"polic\
y"},t("h2",{id:"policy"},"Policy"),e.resources.map(a=>t(Dn,{key:a,namespace:e.name,resource:a,version:n}))),t("div",null,t(jn,{ns:e}),t(On,{ns:e,version:n}),t(Fn,
{ns:e}),t(In,{namespace:e.name,version:n}))))}function Dn({namespace:e,resource:n,version:s}){let a=M(`/api/namespaces/${e}/objects/${n}`,s),[o,...r]=n.split("."),
l=a.data?.items??[],u=l.filter(d=>d.state!=="Absent").length;return t("section",{class:"kind","aria-label":n},t("h3",null,t("span",null,o),r.length>0&&t("small",
{class:"dim"},r.join(".")),t("span",{class:"grow"}),a.data&&t("small",{class:"dim"},u?S(u,"object"):"none"),a.data?.mode&&t("span",{class:"tag"},a.data.mode)),a.
error&&!a.data&&t("p",{class:"note"},a.error.problem.missingPermission?t(_,null,"Missing permission: ",t("code",null,a.error.problem.missingPermission)):a.error.
problem.detail),a.data?.notes?.map(d=>t("p",{class:"note",key:d},d)),l.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,"Name"),t("th",
null,"Where it comes from"))),t("tbody",null,l.map(d=>t("tr",{key:d.name,class:d.state},t("td",null,t(E,{to:Q(e,n,d.name)},d.name)),t("td",null,d.state==="Copy"?
t(_,null,"copied from ",t(E,{to:T(d.source)},d.source)):d.state==="Local"?t(_,null,"made here ",d.override&&t("span",{class:"tag"},"override")):t(_,null,t("span",
{class:"tag"},"not here")," is in ",t(E,{to:T(d.source)},d.source)," · ",t(E,{to:Q(e,n,d.name)},"why not here?"))))))))}function jn({ns:e}){return t("section",
{class:"box","aria-labelledby":"children"},t("h2",{id:"children"},"Children ",t("small",{class:"dim"},e.children.length||"")),e.children.length?t("ul",{class:"p\
lain"},e.children.map(n=>t("li",{key:n.name},t(E,{to:T(n.name)},n.name)," ",t("span",{class:"dim"},n.subnamespace?"sub-namespace":""),n.state&&n.state!=="Ok"&&t(
"span",{class:"tag bad"},n.state)))):t("p",{class:"dim"},"None."))}function On({ns:e,version:n}){let s=M("/api/quotas",n),a=s.data?jt(s.data.quotas,e.path):[];return a.
length?t("section",{class:"box","aria-labelledby":"limits","data-limits":!0},t("h2",{id:"limits"},"Quotas: what is left"),t("ul",{class:"plain limits"},a.map(({
quota:o,limit:r})=>t("li",{key:r.resource},t(E,{to:"/quotas?"+new URLSearchParams({resource:r.resource})},r.resource)," ",t(ye,{limit:r}),t("span",{class:"dim"},
t("b",{class:be(r.share)},r.used," of ",r.hard)," below ",o.namespace))))):null}function Fn({ns:e}){let n=e.labelsFrom.filter(o=>!o.tree),s=e.labelsFrom.filter(
o=>o.tree),a=o=>t("li",{key:o.key},t("code",null,o.key,"=",o.value),o.from&&t("span",{class:"dim"}," set by the hierarchy ",o.from===e.name?"here":t(_,null,"in ",
t(E,{to:T(o.from)},o.from))));return t("section",{class:"box","aria-labelledby":"labels"},t("h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(a)):
t("p",{class:"dim"},"None of its own."),s.length>0&&t("details",null,t("summary",null,s.length," set by its place in the tree"),t("ul",{class:"plain"},s.map(a))))}
function In({namespace:e,version:n}){let s=M(`/api/namespaces/${e}/events`,n),[a,o]=k(!1),r=s.data??[],l=a?r:r.slice(0,8),u=s.error?.problem.missingPermission;return t(
"section",{class:"box","aria-labelledby":"events"},t("h2",{id:"events"},"Events ",t("small",{class:"dim"},r.length||"")),l.length>0&&t("ul",{class:"plain events"},
l.map((d,f)=>t("li",{key:f},t("span",{class:"tag "+(d.warning?"bad":"")},d.reason)," ",t("b",null,d.kind,"/",d.name)," ",t("span",{class:"dim"},xe(d.last),d.count>
1&&` ×${d.count}`),t("br",null),t("span",{class:"message"},d.message)))),r.length>l.length&&t("button",{onClick:()=>o(!0)},"Show ",r.length-l.length," more"),s.
data&&!r.length&&t("p",{class:"dim"},"None."),s.error&&!s.data&&t("p",{class:"note"},u?t(_,null,"Missing permission: ",t("code",null,u)):s.error.problem.detail))}var Hn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],Bn=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function qt({name:e,version:n}){let[s,a]=ee(),o=s.get("verb")??"",r=s.get("resource")??"",l=o!==""&&r!=="",u=M(`/api/namespaces/${e}/access`+(l?"?"+
new URLSearchParams({verb:o,resource:r}):""),n);return D(`Access to ${e}`),t("main",null,t(He,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:f=>{f.
preventDefault();let m=new FormData(f.target);a({verb:String(m.get("verb")).trim(),resource:String(m.get("resource")).trim()})},key:o+" "+r,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",value:o,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-label":"Ve\
rb"})),t("input",{name:"resource",list:"resources",value:r,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"Resource"}),t("\
span",null,"in ",e,"?"),t("datalist",{id:"verbs"},Hn.map(f=>t("option",{key:f,value:f}))),t("datalist",{id:"resources"},Bn.map(f=>t("option",{key:f,value:f}))),
t("button",{class:"primary"},"Show"),l&&t("button",{type:"button",onClick:()=>a({})},"Show all grants"),t("span",{class:"grow"}),t($,{command:`kubectl hns who ${e}`+
(l?` ${o} ${r}`:"")})),t(U,{from:u},f=>t(Qn,{name:e,access:f,permission:l?`${o} ${r}`:""})))}var Be=e=>e.subject.namespace?`${e.subject.namespace}/${e.subject.name}`:
e.subject.name;function Qn({name:e,access:n,permission:s}){let[a,o]=k(""),r=n.grants??[],l=r.filter(i=>(Be(i)+" "+i.role).toLowerCase().includes(a.trim().toLowerCase())),
u=l.filter(i=>!i.unknown),d=u.filter(i=>i.at),f=u.filter(i=>!i.at),m=l.filter(i=>i.unknown),c=new Set(r.filter(i=>!i.unknown).map(i=>i.subject.kind+" "+Be(i))).
size,p=()=>we(`access-${e}.csv`,"text/csv",Ot([["kind","subject","role","binding","set in","only","known"],...l.map(i=>[i.subject.kind,Be(i),i.role,i.binding,i.
at??"(cluster)",(i.names??[]).join(" "),i.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},s?`${S(c,"subject")} can ${s}\
 in ${e}`:`${S(c,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","aria-label":"Filter by subjec\
t or role",value:a,onInput:i=>o(i.target.value)}),t("button",{onClick:p,disabled:!l.length},"CSV")),t(H,{list:n.notes}),t(nt,{title:"By bindings in the namespac\
e and its ancestors",name:e,grants:d,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(nt,{title:"In the whole cluster",name:e,grants:f,
open:d.length===0&&s!==""}),t(nt,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:m,open:!0}),t("p",{class:"dim"},"As RBAC\
 grants it. Members of the group system:masters may do everything."))}function nt({title:e,name:n,grants:s,open:a,empty:o}){return!s.length&&!o?null:t("details",
{class:"box fold",open:a},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"list"},t("thead",null,t("tr",null,t(
"th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,s.map((r,l)=>t("tr",{key:l},t("td",null,t("span",{class:"\
dim"},r.subject.kind)," ",t("b",null,Be(r))),t("td",{"data-label":"Role"},r.role,r.names&&t("span",{class:"dim"}," only ",r.names.join(", "))),t("td",{"data-lab\
el":"Binding"},r.binding.startsWith("RoleBinding/")?t(E,{to:Q(n,"rolebindings.rbac.authorization.k8s.io",r.binding.slice(12))},r.binding):r.binding),t("td",{"da\
ta-label":"Set in"},r.at?r.at===n?"here":t(E,{to:T(r.at)},r.at):"the cluster"))))):t("p",{class:"dim"},o))}var Kn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function Yt({version:e}){let n=M("/api/administration",e),[s,a]=k(0),o=M("/api/checks",s);return D("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(U,{from:n},r=>t(Wn,{a:r})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>a(r=>r+1)},"Check again"),t($,{command:"kubectl hns doctor"})),t(U,{from:o},
r=>t(Gn,{list:r}))))}function Wn({a:e}){return t(_,null,t(H,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,S(e.problems.length,
"problem")),t(ge,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t($,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},Kn[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hns-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(_,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t($,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},S(n.objects,"object"),n.applied&&t(_,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(_,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var zt=["error","warning","unknown","ok"];function Gn({list:e}){let n=[...e].sort((l,u)=>zt.indexOf(
l.severity)-zt.indexOf(u.severity)),s=n.filter(l=>l.severity==="error"||l.severity==="warning"),a=n.filter(l=>l.severity==="unknown"),o=n.filter(l=>l.severity===
"ok"),r=l=>t("ul",{class:"plain checks"},l.map((u,d)=>t("li",{key:d,class:u.severity},t("span",{class:"tag "+(u.severity==="ok"?"":u.severity==="unknown"?"warn":
"bad")},u.severity),t("span",null,t("b",null,u.subject)," ",u.text,u.hint&&t("p",{class:"hint"},u.hint)))));return t(_,null,s.length?r(s):t("p",{class:o.length?
"good":"dim"},o.length," of ",S(e.length,"check")," without findings."),a.length>0&&t("details",null,t("summary",null,S(a.length,"check")," for which you lack p\
ermissions"),r(a)),o.length>0&&t("details",null,t("summary",null,S(o.length,"check")," without findings"),r(o)))}var q={text:"#1b2330",line:"#c3cad4",node:"#2251b8",bad:"#a8231b",back:"#ffffff"};function Jt({roots:e,filter:n,isExpanded:s}){let a=B(null),[o,r]=k(""),l=fe(e,
n,s),{nodes:u,width:d,height:f}=J(()=>It(l.slice(0,Ie)),[l.length,e,n]),m=()=>new XMLSerializer().serializeToString(a.current),c=()=>we("forest.svg","image/svg+\
xml",m()),p=async()=>{try{let i=new Image;i.src="data:image/svg+xml;charset=utf-8,"+encodeURIComponent(m()),await i.decode();let b=Math.min(2,16e3/Math.max(d,f)),
y=document.createElement("canvas");y.width=d*b,y.height=f*b,y.getContext("2d").drawImage(i,0,0,y.width,y.height),y.toBlob(h=>h?we("forest.png","image/png",h):r(
"The drawing is too large for a PNG. Save it as SVG."))}catch{r("The browser cannot make a PNG of the drawing. Save it as SVG.")}};return t("section",{class:"bo\
x drawing","aria-label":"Drawing of the forest"},t("div",{class:"tools"},t("span",{class:"dim",role:"status"},o||(l.length>Ie?`The first ${S(Ie,"namespace")} of\
 ${l.length}: collapse trees in the table, or filter`:S(l.length,"namespace"))),t("span",{class:"grow"}),t("button",{onClick:c},"Save SVG"),t("button",{onClick:p},
"Save PNG")),t("div",{class:"canvas",tabIndex:0,role:"group","aria-label":"Drawing, scrollable"},t("svg",{ref:a,xmlns:"http://www.w3.org/2000/svg",width:d,height:f,
viewBox:`0 0 ${d} ${f}`,role:"group","aria-label":`${S(u.length,"namespace")} as trees`,"font-family":"system-ui, sans-serif","font-size":"13"},t("rect",{width:d,
height:f,fill:q.back,class:"back"}),u.map(i=>i.parent&&t("path",{key:"to "+i.name,d:`M${i.parent.end} ${i.parent.y}H${i.x-38}C${i.x-20} ${i.parent.y} ${i.x-26} ${i.
y} ${i.x-8} ${i.y}`,fill:"none",stroke:q.line,class:"edge"})),u.map(i=>t("a",{key:i.name,href:T(i.name),class:i.node.member.problems?.length?"bad":"",onClick:b=>{
b.preventDefault(),V(T(i.name))},"data-namespace":i.name},t("title",null,i.title),t("circle",{cx:i.x,cy:i.y,r:5,fill:i.node.member.problems?.length?q.bad:i.node.
member.kind==="full"?q.node:q.back,stroke:i.node.member.problems?.length?q.bad:q.node,"stroke-width":"2"}),t("text",{x:i.x+11,y:i.y+4.5,fill:i.node.member.problems?.
length?q.bad:q.text,"font-weight":i.node.member.problems?.length?"bold":"normal"},i.label))))),t("p",{class:"dim"},"A filled circle is a full namespace, an open\
 one a sub-namespace; red ones have problems."))}var z=30,qn=200,Xt=4,Zt=6,st=new Map,at={text:"",problems:!1},Vt="",en="";function tn({version:e}){let n=G(K);D("Forest");let s=M("/api/quotas",e);return t("mai\
n",{class:"forest"},!n.data&&t("div",{class:"head"},t("h1",null,"Forest")),t(U,{from:n},a=>t(Yn,{forest:a,roots:n.roots,quotas:s.data})))}function zn(e,n){let s=new Map;
for(let a of e.quotas)for(let o of a.limits)(!n||o.resource===n)&&!(s.get(a.namespace)?.share>=o.share)&&s.set(a.namespace,o);return s}function Yn({forest:e,roots:n,
quotas:s}){let[a,o]=k(Vt),r=x=>{Vt=x,o(x)},l=J(()=>[...new Set(s?.quotas.flatMap(x=>x.limits.map(j=>j.resource)))].sort(),[s]),u=J(()=>s?.quotas.length?zn(s,a):
void 0,[s,a]),[d,f]=ee(),m=d.get("view")==="drawing",[c,p]=k(at),[i,b]=k(!!at.mine),y=M("/api/mine",0,!i);N(()=>h({...c,mine:i&&y.data?new Set(y.data):void 0}),
[i,y.data]);let h=x=>{at=x,p(x)},[,L]=k(0),R=e.namespaces.length<=qn,v=x=>st.get(x.member.name)??(R||x.problems>(x.member.problems?.length??0)),C=fe(n,c,v),O=e.
namespaces.filter(x=>x.problems?.length),Y=(x,j)=>{st.set(x.member.name,j),L(Se=>Se+1)},ne=x=>{for(let j of e.namespaces)st.set(j.name,x);L(j=>j+1)};return t("d\
iv",null,t("div",{class:"head"},t("h1",null,"Forest"),t("p",{class:"summary"},S(e.namespaces.length,"namespace")," in ",S(n.length,"tree"),O.length?t(_,null," ·\
 ",t("b",{class:"bad"},S(O.length,"namespace")," with problems"),": ",O.slice(0,Xt).map(x=>t(_,null,t(E,{to:T(x.name),key:x.name},x.name)," ")),O.length>Xt&&"…"):
!e.partial&&t(_,null," · ",t("span",{class:"good"},"no problems"))),t($,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),t("div",{
class:"tools"},t("input",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:c.text,onInput:x=>h(
{...c,text:x.target.value}),spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"checkbox",checked:c.problems,onChange:x=>h({...c,problems:x.
target.checked})})," With problems"),t("label",{class:"check",title:"Namespaces that you may get by a role in them"},t("input",{type:"checkbox",checked:i,onChange:x=>b(
x.target.checked)})," Mine"),t("span",{class:"grow"}),t("span",{class:"views",role:"group","aria-label":"View"},[["","Table"],["drawing","Drawing"]].map(([x,j])=>t(
"button",{key:x,"aria-pressed":m===(x==="drawing"),onClick:()=>f(x?{view:x}:{})},j))),!m&&l.length>0&&t("label",null,"Quota of ",t("select",{value:a,onChange:x=>r(
x.target.value)},t("option",{value:""},"the fullest"),l.map(x=>t("option",{key:x,value:x},x)))),t("button",{onClick:()=>ne(!0),disabled:de(c)},"Expand all"),t("\
button",{onClick:()=>ne(!1),disabled:de(c)},"Collapse all")),i&&y.error&&t(te,{problem:y.error.problem}),m&&C.length?t(Jt,{roots:n,filter:c,isExpanded:v}):C.length?
t(Jn,{list:C,toggle:Y,filter:c,limits:u}):t("p",{class:"dim box",role:"status"},de(c)?"No namespace matches the filter.":"There are no namespaces that you may s\
ee."))}function Jn({list:e,toggle:n,filter:s,limits:a}){let o=de(s),r=B(null),[l,u]=k({top:0,height:800}),[d,f]=k(en),m=v=>{en=v,f(v)},c=Math.max(0,e.findIndex(
v=>v.node.member.name===d));N(()=>b(c),[]),N(()=>{o&&(r.current.scrollTop=0)},[s.text,s.problems,s.mine]);let p=()=>{let v=r.current;v&&u({top:v.scrollTop,height:v.
clientHeight})};N(()=>(p(),addEventListener("resize",p),()=>removeEventListener("resize",p)),[e.length]);let i=v=>{v=Math.max(0,Math.min(e.length-1,v)),m(e[v].node.
member.name),b(v)},b=v=>{let C=r.current;v*z<C.scrollTop&&(C.scrollTop=v*z),(v+1)*z>C.scrollTop+C.clientHeight&&(C.scrollTop=(v+1)*z-C.clientHeight)},y=v=>{let C=e[c],
O=Math.max(1,Math.floor(l.height/z)-1);if(!(v.ctrlKey||v.metaKey||v.altKey)){switch(v.key){case"ArrowDown":i(c+1);break;case"ArrowUp":i(c-1);break;case"PageDown":
i(c+O);break;case"PageUp":i(c-O);break;case"Home":i(0);break;case"End":i(e.length-1);break;case"ArrowRight":C.expanded?i(c+1):C.node.children.length&&!o&&n(C.node,
!0);break;case"ArrowLeft":C.expanded&&!o?n(C.node,!1):C.parent>=0&&i(C.parent);break;case"Enter":V(T(C.node.member.name));break;default:return}v.preventDefault()}},
h=Math.max(0,Math.floor(l.top/z)-10),L=Math.min(e.length,Math.ceil((l.top+l.height)/z)+10),R=e.slice(h,L);return t("div",{class:"grid"+(a?" limited":""),role:"t\
reegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,onKeyDown:y,"aria-activedescendant":c>=h&&c<L?"row-"+e[c].node.member.
name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},t("span",{role:"columnheader"},"Namespace"),t("span",{role:"columnheader"},"Problems"),a&&
t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"columnheader",class:"wide"},"Kind"),t("span",{role:"columnheader",class:"num wide",title:"N\
amespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},"Age")),t("div",{class:"rows",role:"rowgroup",ref:r,onScroll:p,tabIndex:-1},t("div",{role:"\
presentation",style:{height:e.length*z+"px",position:"relative"}},R.map((v,C)=>t(Xn,{key:v.node.member.name,row:v,index:h+C,active:h+C===c,fixed:o,choose:()=>m(
v.node.member.name),toggle:n,limits:a})))))}function Xn({row:e,index:n,active:s,fixed:a,choose:o,toggle:r,limits:l}){let{node:u,depth:d,expanded:f}=e,{member:m,
children:c}=u,p=m.problems?.length??0,i=u.problems-p,b=l?.get(m.name);return t("div",{id:"row-"+m.name,role:"row",class:"row"+(s?" active":"")+(p?" troubled":""),
"aria-level":d+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-expanded":c.length?f:void 0,style:{top:n*z+"px","--depth":Math.min(
d,Zt)},onMouseDown:o,draggable:!0,onDragStart:y=>y.dataTransfer.setData("text/x-namespace",m.name),onDragOver:y=>{y.dataTransfer.types.includes("text/x-namespac\
e")&&y.preventDefault()},onDrop:y=>{y.preventDefault();let h=y.dataTransfer.getData("text/x-namespace");h&&h!==m.name&&V(`/plan?namespace=${h}&change=move&paren\
t=${m.name}`)}},t("span",{role:"gridcell",class:"name"},c.length?t("button",{class:"twist",tabIndex:-1,"aria-hidden":"true",disabled:a,onClick:()=>r(u,!f)},f?"▾":
"▸"):t("span",{class:"twist"}),d>Zt&&t("span",{class:"dim level",title:"Level in the tree"},d+1),t(E,{to:T(m.name),tabIndex:-1,title:m.name},m.name),m.deleting&&
t("span",{class:"tag"},"deleting")),t("span",{role:"gridcell",class:"what"},p?t("span",{class:"problem",title:m.problems.map(y=>`${Z(y.type)}: ${y.message}`).join(
`
`)},t("b",null,Z(m.problems[0].reason))," ",t("span",{class:"wide"},m.problems[0].message),p>1&&` +${p-1}`):i&&!f?t("span",{class:"problem below"},i," below"):null),
l&&t("span",{role:"gridcell",class:"quota wide"},b&&t(E,{to:"/quotas",tabIndex:-1,title:`${b.resource}: ${b.used} of ${b.hard}`},t(ye,{limit:b})," ",t("span",{class:be(
b.share)},b.used,"/",b.hard)," ",t("span",{class:"dim"},b.resource))),t("span",{role:"gridcell",class:"dim wide"},m.kind==="full"?"":m.kind),t("span",{role:"gri\
dcell",class:"num dim wide"},u.descendants||""),t("span",{role:"gridcell",class:"num dim"},xe(m.created)))}function nn({version:e,...n}){let{namespace:s,resource:a,name:o}=n,r=`/api/namespaces/${s}/objects/${encodeURIComponent(a)}/${encodeURIComponent(o)}`,l=M(r,e),u=l.
data&&l.data.state!=="Absent";return D(`${o} in ${s}`),t("main",null,t(tt,{names:Ce(s),object:o}),t("div",{class:"head"},t("h1",null,o),t("p",{class:"summary"},
a," in ",s),t($,{command:`kubectl hns why ${et(`${a}/${o}`)} -n ${s}`})),t(U,{from:l},d=>t(Zn,{a:d,place:n})),u&&t(Vn,{path:r+"/content",version:e,place:n}))}function Zn({
a:e,place:n}){let s={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in ${e.namespace}.`}[e.state];
return t("div",{class:"story"},t("section",{class:"box","data-state":e.state},t("h2",null,s),t("ul",null,e.because.map(a=>t("li",{key:a,class:"message"},a)))),t(
"section",{"aria-labelledby":"way"},t("h2",{id:"way"},"From the root to ",e.namespace),t("ol",{class:"way"},[...e.levels].reverse().map(a=>{let o=a.namespace===
e.namespace,r=a.namespace===e.source;return t("li",{key:a.namespace,class:r?"source":a.state==="Local"?"Local":o?"here "+e.state:a.state},t(E,{to:a.state&&a.state!==
"Absent"&&!o?Q(a.namespace,n.resource,n.name):T(a.namespace)},a.namespace)," ",t("span",{class:"dim"},a.unread?`not known: ${a.unread}`:r?"the source":a.state===
"Copy"?`a copy${a.source===e.source?"":` of ${a.source}`}`:a.state==="Local"?"made here":"not here"),a.mode&&a.mode!=="Propagate"&&t("span",{class:"tag",title:"\
How objects of the kind are propagated from here"},a.mode))}))))}function Vn({path:e,version:n,place:s}){let a=M(e,n);return t(U,{from:a},o=>t(_,null,t(H,{list:o.
notes}),o.source&&!o.difference&&!o.notes&&t("p",{class:"dim"},"It is equal to its source, apart from what the server sets."),o.difference&&t("details",{class:"\
box fold"},t("summary",null,t("h2",null,"Difference from the source in ",o.source)),t(Ee,{text:o.difference})),o.overwritten&&t("details",{class:"box fold",open:!0,
"data-overwritten":!0},t("summary",null,t("h2",null,"What it has overwritten")),t("p",{class:"dim"},"An ancestor's object replaced one that was made here. Remov\
ed lines are those of the former."),t(Ee,{text:o.overwritten}),t($,{command:`kubectl hns why ${et(`${s.resource}/${s.name}`)} -n ${s.namespace} --overwritten`})),
t("details",{class:"box fold","data-yaml":!0},t("summary",null,t("h2",null,"YAML")),t("div",{class:"tools"},t("span",{class:"grow"}),t(Ht,{text:o.manifest,title:"\
Copy as YAML"})),t("pre",{class:"yaml",tabIndex:0,role:"group","aria-label":"YAML"},o.manifest))))}var ie={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of\
 a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},
forbid:{title:"Forbid cascading deletion",fields:[],write:!0}},sn={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},es=["Propagate",
"AllowPropagate","Remove","Ignore"],ts=2e3;function on({version:e}){let[n,s]=ee(),a=M("/api/session",0),o=G(K),r=Object.fromEntries(n),[l,u]=k(r.change in ie?r.
change:"move");N(()=>{r.change in ie&&u(r.change)},[r.change]),D(r.namespace?`Plan for ${r.namespace}`:"Plan");let d=r.namespace&&r.change in ie&&ie[r.change].fields.
every(p=>r[p]),f=p=>{p.preventDefault();let i=new FormData(p.target);s(Object.fromEntries(["namespace","change",...ie[l].fields].map(b=>[b,String(i.get(b)).trim()])))},
m=(o.data?.namespaces??[]).slice(0,ts),c=(p,i)=>t("input",{key:p,name:p,"aria-label":sn[p]??"Namespace",placeholder:sn[p]??"Namespace",list:i,value:r[p]??"",required:!0,
autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would do. Looking at i\
t changes nothing.")),t("form",{class:"tools ask box",onSubmit:f,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",c("namespace","namespaces")),t(
"select",{name:"change","aria-label":"Change",value:l,onChange:p=>u(p.target.value)},Object.entries(ie).filter(([,p])=>!p.write||a.data?.write).map(([p,i])=>t("\
option",{key:p,value:p},i.title))),ie[l].fields.map(p=>p==="mode"?t("select",{key:p,name:p,"aria-label":"Mode",value:r.mode??"Propagate"},es.map(i=>t("option",{
key:i,value:i},i))):c(p,p==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},m.map(p=>t("option",{key:p.name,value:p.name}))),t("button",{class:"pr\
imary"},"Preview")),d&&t(ns,{key:n.toString(),fields:r,version:e,session:a.data}))}function ns({fields:e,version:n,session:s}){let[a,o]=k(!1),{namespace:r,...l}=e,
u=M(`/api/namespaces/${encodeURIComponent(r)}/plan?`+new URLSearchParams(l),n,a);return a?t("p",{class:"box good",role:"status"},"Done. ",e.change==="delete"?"T\
he namespace is being deleted.":"Copies follow within seconds."," ",t(E,{to:e.change==="delete"?"/":T(e.child??r)},e.change==="delete"?"Forest":e.child??r)):t(U,
{from:u},d=>t(ss,{plan:d,fields:e,write:!!s?.write,done:()=>o(!0)}))}function ss({plan:e,fields:n,write:s,done:a}){let o=e.status,[r,l]=k(!1),u=o.namespaces??[],
d=r?u:u.slice(0,50),f=Ft(u),m=o.hidden?.map(c=>c.group?`${c.resource}.${c.group}`:c.resource);return t("div",{"data-plan":n.change},o.refusals?.map(c=>t("sectio\
n",{class:"box bad",role:"alert",key:c.message},t("h2",null,"It would be refused: ",c.reason),t("p",{class:"message"},c.message))),t("section",{class:"box"},t("\
div",{class:"head"},t("div",{role:"status"},t("h2",null,e.summary)),t("span",{class:"grow"}),e.see&&t($,{command:e.see})),o.exceededQuotas&&t(_,null,t("h3",{class:"\
bad"},"Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",{class:"\
num"},"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,o.exceededQuotas.map(c=>t("tr",{key:c.namespace+c.name+c.resource},t(
"td",null,c.namespace,"/",c.name),t("td",null,c.resource),t("td",{class:"num","data-label":"Used"},c.used),t("td",{class:"num","data-label":"Moved"},c.moved),t(
"td",{class:"num","data-label":"Limit"},c.limit)))))),!!o.omittedExceededQuotas&&t("p",{class:"note"},S(o.omittedExceededQuotas,"limit")," more would be exceede\
d, of quotas that you may not get, or that are too many."),f.length>0&&t(_,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},f.map(c=>t("li",{key:c.
text},t("span",{class:"mark "+c.change},c.change==="Gained"?"+":"−"),c.text," ",t("span",{class:"dim"},"in ",c.namespaces.length>3?S(c.namespaces.length,"name\
space"):c.namespaces.join(", "))))))),t(H,{list:[...m?[`Left out, because you may not list them in ${n.namespace}: ${m.join(", ")}`]:[],...(o.unknown??[]).map(c=>"\
Not known: "+c)]}),d.map(c=>t(os,{key:c.name,plan:c,open:u.length<=5})),d.length<u.length&&t("button",{onClick:()=>l(!0)},"Show ",u.length-d.length," more names\
paces"),t(rs,{plan:e,fields:n,write:s,done:a}))}var as={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},an={Add:"added",Change:"changed",Overwrite:"over\
written",Remove:"removed",Keep:"kept"};function os({plan:e,open:n}){let s=e.objects??[],a=Object.entries(an).map(([o,r])=>[s.filter(l=>l.action===o).length,r]).
filter(([o])=>o);return t("details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t("h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},
e.fate.toLowerCase())," ",t("span",{class:"dim"},a.map(([o,r])=>`${o} ${r}`).join(", "))),t("ul",{class:"plain"},e.labels?.map(o=>t("li",{key:o.key},t("span",{class:"\
mark"},"~"),"label ",t("code",null,o.key),": ",o.before||"none"," → ",o.after||"none")),e.quotas?.map(o=>t("li",{key:o.name+o.resource,class:"bad"},t("span",{
class:"mark"},"!"),"ResourceQuota ",o.name," allows ",o.hard," of ",o.resource,", and there would be ",o.planned)),s.map(o=>t("li",{key:o.group+o.kind+o.name},t(
"span",{class:"mark "+o.action},as[o.action]),t("span",{class:"hidden"},an[o.action],": "),o.kind,"/",o.name,o.source&&t("span",{class:"dim"}," from ",o.source),
o.difference&&t("details",null,t("summary",null,"difference"),t(Ee,{text:o.difference}))))))}function rs({plan:e,fields:n,write:s,done:a}){let o=B(null),[r,l]=k(
""),[u,d]=k(!1),[f,m]=k(),c=n.change==="delete",{namespace:p,...i}=n,b=async y=>{y.preventDefault(),d(!0),m(void 0);try{await Pt(`/api/namespaces/${encodeURIComponent(
p)}/changes`,{...i,confirm:r}),a()}catch(h){m(h),d(!1)}};return e.status.refusals?.length?null:t("section",{class:"box","aria-labelledby":"make"},t("div",{class:"\
head"},t("h2",{id:"make"},"Make the change"),t("span",{class:"grow"}),t($,{command:e.make})),s?e.writable?t("button",{class:c?"danger":"primary",onClick:()=>o.current.
showModal()},"Apply …"):t("p",{class:"dim"},"The page does not make this change. Run the command."):t("p",{class:"dim"},"The page is read-only. Run the comman\
d, or start the page with ",t("code",null,"kubectl hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:o,"aria-labelledby":"confirm",onClose:()=>{l(""),m(void 0)}},
t("form",{onSubmit:b},t("h2",{id:"confirm"},e.summary.replace(" would "," will ")),t("p",null,t("code",null,e.make)),c&&t("p",null,t("label",null,"What is in it\
 is lost. Type its name to delete it: ",t("input",{value:r,onInput:y=>l(y.target.value),"aria-label":"Name of the namespace",autocomplete:"off",spellcheck:!1}))),
f&&t(te,{problem:f.problem}),t("div",{class:"tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>o.current.close()},"Cancel"),t("button",{class:c?
"danger":"primary",disabled:u||c&&r!==p},u?"Applying …":"Apply")))))}var is={connecting:"Connecting",live:"Live",lost:"Not connected"},ls=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],cs=15e3;
function ps(){let[e,n]=k(location.pathname),[,s]=k(location.search),[a,o]=k(0),[r,l]=At(),u=M("/api/session",0),d=Bt(l);N(()=>{let c=()=>{n(location.pathname),s(
location.search)},p=setInterval(()=>document.hidden||o(b=>b+1),cs),i=b=>{b.key!=="/"||b.ctrlKey||b.metaKey||b.altKey||b.target.matches?.("input, textarea, selec\
t")||(b.preventDefault(),location.pathname!=="/"&&V("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",c),addEventListener(
"keydown",i),()=>{clearInterval(p),removeEventListener("popstate",c),removeEventListener("keydown",i)}},[]);let f=B(e);N(()=>{let c=document.querySelector("main");
!c||e===f.current||(f.current="",c.tabIndex=-1,c.focus({preventScroll:!0}))},[e]);let m=u.data;return t(_,null,t("header",null,t(E,{to:"/",class:"brand"},t("img",
{src:"/icon.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},ls.map(([c,p])=>t(E,{key:c,to:c,"aria-current":e===
c?"page":void 0},p))),t("span",{class:"context"},m&&t(_,null,t("b",{title:"Cluster "+m.cluster},m.context||"no context"),t("span",{class:"dim"}," ",m.user))),t(
"span",{class:"grow"}),m&&t("span",{class:"wide tag"+(m.write?" warn":"")},m.write?"may write":"read-only"),t("span",{class:"state "+r,role:"status"},is[r])),u.
error?.status===401?t("main",null,t(te,{problem:u.error.problem})):t(K.Provider,{value:d},t("div",{class:e==="/"?"":"beside"},t(us,{key:e,path:e,version:l,tick:l+
a}),e!=="/"&&t(Qt,{name:e.startsWith("/ns/")?rn(e)[1]:""}))))}var rn=e=>e.split("/").slice(1).map(n=>{try{return decodeURIComponent(n)}catch{return n}});function us({
path:e,version:n,tick:s}){let a=rn(e);if(e==="/")return t(tn,{version:n});if(e==="/quotas")return t(Kt,{version:n});if(e==="/plan")return t(on,{version:n});if(e===
"/admin")return t(Yt,{version:s});if(a[0]==="ns"&&a[1]){if(a.length===2)return t(Gt,{name:a[1],version:s});if(a.length===3&&a[2]==="access")return t(qt,{name:a[1],
version:s});if(a.length===4)return t(nn,{namespace:a[1],resource:a[2],name:a[3],version:s})}return t("main",null,t("h1",{class:"hidden"},"No such page"),t(te,{problem:{
title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}Tt();ze(t(ps,null),document.getElementById("app"));
