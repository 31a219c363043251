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
var Te="http://www.w3.org/2000/svg",Ge="http://www.w3.org/1999/xhtml",it="http://www.w3.org/1998/Math/MathML";var se={},ae=[],lt=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var le=Array.isArray;function O(e,n){for(let s in n)e[s]=n[s];return e}function Pe(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var oe=ae.slice;function ct(e,n,s,a){let o,i,l;for(;n=n._parent;)if((o=n._component)&&!o._processingException)try{if(i=o.constructor,i&&i.getDerivedStateFromError!=null&&(o.setState(
i.getDerivedStateFromError(e)),l=o._dirty),o.componentDidCatch!=null&&(o.componentDidCatch(e,a||{}),l=o._dirty),l)return o._pendingError=o}catch(p){e=p}throw e}var mn={_catchError:ct},C=mn;var dn=0;function t(e,n,s){let a={},o,i,l;for(l in n)l=="key"?o=n[l]:l=="ref"?i=n[l]:a[l]=n[l];if(arguments.length>2&&(a.children=arguments.length>3?oe.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)a[l]===void 0&&(a[l]=e.defaultProps[l]);return ce(e,a,o,i,null)}function ce(e,n,s,a,o){
let i={type:e,props:n,key:s,ref:a,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:o==null?++dn:o,_index:-1,_flags:0};
return o==null&&C.vnode!=null&&C.vnode(i),i}function _(e){return e.children}function pe(e,n){this.props=e,this.context=n}pe.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=O({},this.state),typeof e=="function"&&(e=e(O({},s),this.props)),e&&O(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),Re(this))};pe.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Re(this))};pe.prototype.render=_;function q(e,n){if(n==null)return e._parent?
q(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?q(e):null}
function fn(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,a=[],o=[],i=O({},n);i._original=n._original+1,C.vnode&&C.vnode(i),ue(e._parentDom,i,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,a,s==null?q(n):s,!!(n._flags&32),o),i._original=n._original,i._parent._children[i._index]=i,$e(a,i,o),n._dom=n._parent=
null,i._dom!=s&&pt(i)}}function pt(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),pt(e)}var re=[],qe,gn=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Re(e){
(!e._dirty&&(e._dirty=!0)&&re.push(e)&&!Ae._rerenderCount++||qe!=C.debounceRendering)&&(qe=C.debounceRendering,(qe||gn)(Ae))}var bn=(e,n)=>e._vnode._depth-n._vnode.
_depth;function Ae(){try{let e,n=1;for(;re.length;)re.length>n&&re.sort(bn),e=re.shift(),n=re.length,fn(e)}finally{re.length=Ae._rerenderCount=0}}Ae._rerenderCount=
0;function ze(e,n,s,a,o,i,l,p,d,m,c){let f,u,r,b,y,h=a&&a._children||ae,E=n.length;for(d=yn(s,n,h,d,E),f=0;f<E;f++){if(r=s._children[f],r==null)continue;u=r._index!=
-1&&h[r._index]||se,r._index=f;let M=ue(e,r,u,o,i,l,p,d,m,c);b=r._dom,r.ref&&u.ref!=r.ref&&(u.ref&&Ue(u.ref,null,r),c.push(r.ref,r._component||b,r)),y==null&&b!=
null&&(y=b),r._flags&4?(d=ut(r,d,e),u._dom&&(u._dom=null)):typeof r.type=="function"&&M!==void 0?d=M:b&&(d=b.nextSibling),r._flags&=-7}return s._dom=y,d}function yn(e,n,s,a,o){
let i,l,p,d=s.length,m=d,c=0;for(e._children=new Array(o),i=0;i<o;i++){if(l=n[i],l==null||typeof l=="boolean"||typeof l=="function"){e._children[i]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[i]=ce(null,l,null,null,null):le(l)?l=e._children[i]=ce(_,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[i]=ce(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[i]=l;let f=i+c;l._parent=e,
l._depth=e._depth+1;let u=l._index=_n(l,s,f,m);p=null,u!=-1&&(p=s[u],m--,p&&(p._flags|=2)),p==null||p._original==null?(u==-1&&(o>d?c--:o<d&&c++),typeof l.type!=
"function"&&(l._flags|=4)):u!=f&&(u==f-1?c--:u==f+1?c++:(u>f?c--:c++,l._flags|=4))}if(m)for(i=0;i<d;i++)p=s[i],p!=null&&(p._flags&2)==0&&(p._dom==a&&(a=q(p)),Ye(
p,p));return a}function ut(e,n,s){if(typeof e.type=="function"){let a=e._children;for(let o=0;a&&o<a.length;o++)a[o]&&(a[o]._parent=e,n=ut(a[o],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=q(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function _n(e,n,s,a){let o=e.key,i=e.type,l=n[s],p=l!=null&&(l._flags&2)==0,d=a>(p?1:0);if(l===null&&o==null||p&&o==l.key&&i==l.type)return s;if(d){let m=s-1,c=s+
1;for(;m>=0||c<n.length;){let f=m>=0?m--:c++;if(l=n[f],l!=null&&(l._flags&2)==0&&o==l.key&&i==l.type)return f}}return-1}var gt=Math.random().toString(8),Je="__d"+gt,De="__a"+gt;function mt(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||lt.test(
n)?e[n]=s:e[n]=s+"px"}var hn=/(PointerCapture)$|Capture$/i,bt=0;function ke(e,n,s,a,o){let i;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof a==
"string"&&(e.style.cssText=a=""),a)for(n in a)s&&n in s||mt(e.style,n,"");if(s)for(n in s)(!a||s[n]!=a[n])&&mt(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){i=n!=
(n=n.replace(hn,"$1"));let l=n.toLowerCase();l in e||n=="onFocusOut"||n=="onFocusIn"?n=l.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+i]=
s,s?a?s[De]=a[De]:(s[De]=bt,e.addEventListener(n,i?ft:dt,i)):e.removeEventListener(n,i?ft:dt,i)}else{if(o==Te)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function yt(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[Je]==null)n[Je]=bt++;else if(n[Je]<s[De])return;return s(C.event?C.event(n):n)}}}var dt=yt(!1),ft=yt(!0);function ue(e,n,s,a,o,i,l,p,d,m){let c,f=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(d=!!(s._flags&32),p=n._dom=s._dom,i=[p]),(c=C._diff)&&c(n);
e:if(typeof f=="function"){let u=l.length;try{let r,b,y,h,E,M,v=n.props,w=f.prototype&&f.prototype.render;c=f.contextType;let H=c&&a[c._id],B=c?H?H.props.value:
c._defaultValue:a;if(s._component?(r=n._component=s._component,M=r._processingException=r._pendingError):(w?n._component=r=new f(v,B):(n._component=r=new pe(v,B),
r.constructor=f,r.render=kn),H&&H.sub(r),r.state||(r.state={}),r._globalContext=a,b=r._dirty=!0,r._renderCallbacks=[],r._stateCallbacks=[]),w&&r._nextState==null&&
(r._nextState=r.state),w&&f.getDerivedStateFromProps!=null&&(r._nextState==r.state&&(r._nextState=O({},r._nextState)),O(r._nextState,f.getDerivedStateFromProps(
v,r._nextState))),y=r.props,h=r.state,r._vnode=n,b)w&&f.getDerivedStateFromProps==null&&r.componentWillMount!=null&&r.componentWillMount(),w&&r.componentDidMount!=
null&&r._renderCallbacks.push(r.componentDidMount);else{if(w&&f.getDerivedStateFromProps==null&&v!==y&&r.componentWillReceiveProps!=null&&r.componentWillReceiveProps(
v,B),n._original==s._original||!r._force&&r.shouldComponentUpdate!=null&&r.shouldComponentUpdate(v,r._nextState,B)===!1){n._original!=s._original&&(r.props=v,r.
state=r._nextState,r._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(x=>{x&&(x._parent=n)}),ae.push.apply(r._renderCallbacks,r._stateCallbacks),
r._stateCallbacks=[],r._renderCallbacks.length&&l.push(r),p=q(s);break e}r.componentWillUpdate!=null&&r.componentWillUpdate(v,r._nextState,B),w&&r.componentDidUpdate!=
null&&r._renderCallbacks.push(()=>{r.componentDidUpdate(y,h,E)})}r.context=B,r.props=v,r._parentDom=e,r._force=!1;let W=C._render,We=0;if(w)r.state=r._nextState,
r._dirty=!1,W&&W(n),c=r.render(r.props,r.state,r.context),ae.push.apply(r._renderCallbacks,r._stateCallbacks),r._stateCallbacks=[];else do r._dirty=!1,W&&W(n),c=
r.render(r.props,r.state,r.context),r.state=r._nextState;while(r._dirty&&++We<25);r.state=r._nextState,r.getChildContext!=null&&(a=O(O({},a),r.getChildContext())),
w&&!b&&r.getSnapshotBeforeUpdate!=null&&(E=r.getSnapshotBeforeUpdate(y,h));let ie=c!=null&&c.type===_&&c.key==null?ht(c.props.children):c;p=ze(e,le(ie)?ie:[ie],
n,s,a,o,i,l,p,d,m),r.base=n._dom,n._flags&=-161,r._renderCallbacks.length&&l.push(r),M&&(r._pendingError=r._processingException=null)}catch(r){if(l.length=u,n._original=
null,d||i!=null){if(r.then){for(n._flags|=d?160:128;p&&p.nodeType==8&&p.nextSibling;)p=p.nextSibling;i!=null&&(i[i.indexOf(p)]=null),n._dom=p}else if(i!=null)for(let b=i.
length;b--;)Pe(i[b])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),r.then||_t(n),C._catchError(r,n,s)}}else i==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):p=n._dom=xn(s._dom,n,s,a,o,i,l,d,m);return(c=C.diffed)&&c(n),n._flags&128?void 0:p}function _t(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(_t))}function $e(e,n,s){for(let a=0;a<s.length;a++)Ue(s[a],s[++a],s[++a]);C._commit&&C._commit(n,e),e.some(a=>{try{e=a.
_renderCallbacks,a._renderCallbacks=[],e.some(o=>{o.call(a)})}catch(o){C._catchError(o,a._vnode)}})}function ht(e){return typeof e!="object"||e==null||e._depth>
0?e:le(e)?e.map(ht):e.constructor!==void 0?null:O({},e)}function xn(e,n,s,a,o,i,l,p,d){let m=s.props||se,c=n.props,f=n.type,u,r,b,y,h,E,M;if(f=="svg"?o=Te:f=="m\
ath"?o=it:o||(o=Ge),i!=null){for(u=0;u<i.length;u++)if(h=i[u],h&&"setAttribute"in h==!!f&&(f?h.localName==f:h.nodeType==3)){e=h,i[u]=null;break}}if(e==null){if(f==
null)return document.createTextNode(c);e=document.createElementNS(o,f,c.is&&c),p&&(C._hydrationMismatch&&C._hydrationMismatch(n,i),p=!1),i=null}if(f==null)m!==c&&
(!p||e.data!=c)&&(e.data=c);else{if(i=f=="textarea"&&c.defaultValue!=null?null:i&&oe.call(e.childNodes),!p&&i!=null)for(m={},u=0;u<e.attributes.length;u++)h=e.attributes[u],
m[h.name]=h.value;for(u in m)h=m[u],u=="dangerouslySetInnerHTML"?b=h:u!="children"&&!(u in c)&&!(u=="value"&&"defaultValue"in c)&&!(u=="checked"&&"defaultChecke\
d"in c)&&ke(e,u,null,h,o);for(u in c)h=c[u],u=="children"?y=h:u=="dangerouslySetInnerHTML"?r=h:u=="value"?E=h:u=="checked"?M=h:(!p||typeof h=="function")&&m[u]!==
h&&ke(e,u,h,m[u],o);if(r)!p&&(!b||r.__html!=b.__html&&r.__html!=e.innerHTML)&&(e.innerHTML=r.__html),n._children=[];else if(b&&(e.innerHTML=""),ze(n.type=="temp\
late"?e.content:e,le(y)?y:[y],n,s,a,f=="foreignObject"?Ge:o,i,l,i?i[0]:s._children&&q(s,0),p,d),i!=null)for(u=i.length;u--;)Pe(i[u]);(!p||f=="textarea")&&(u="va\
lue",f=="progress"&&E==null?e.removeAttribute("value"):E!=void 0&&(E!==e[u]||f=="progress"&&!E||f=="option"&&E!=m[u])&&ke(e,u,E,m[u],o),u="checked",M!=void 0&&M!=
e[u]&&ke(e,u,M,m[u],o))}return e}function Ue(e,n,s){try{if(typeof e=="function"){let a=typeof e._unmount=="function";a&&e._unmount(),(!a||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(a){C._catchError(a,s)}}function Ye(e,n,s){let a;if(C.unmount&&C.unmount(e),(a=e.ref)&&(!a.current||a.current==e._dom)&&Ue(a,null,n),
(a=e._component)!=null){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(o){C._catchError(o,n)}a.base=a._parentDom=a._globalContext=null}if(a=e._children)
for(let o=0;o<a.length;o++)a[o]&&Ye(a[o],n,s||typeof e.type!="function");s||Pe(e._dom),e._component=e._parent=e._dom=void 0}function kn(e,n,s){return this.constructor(
e,s)}function Xe(e,n,s){n==document&&(n=document.documentElement),C._root&&C._root(e,n);let a=typeof s=="function",o=a?null:s&&s._children||n._children;e=(!a&&s||n).
_children=t(_,null,[e]);let i=[],l=[];ue(n,e,o||se,se,n.namespaceURI,!a&&s?[s]:o?null:n.firstChild?oe.call(n.childNodes):null,i,!a&&s?s:o?o._dom:n.firstChild,a,
l),$e(i,e,l),e.props.children=null}var wn=0;function Ze(e){function n(s){if(!this.getChildContext){let a=new Set,o={};o[n._id]=this,this.getChildContext=()=>o,this.componentWillUnmount=()=>{a=null},
this.shouldComponentUpdate=function(i){this.props.value!=i.value&&a.forEach(l=>{l._force=!0,Re(l)})},this.sub=i=>{a.add(i);let l=i.componentWillUnmount;i.componentWillUnmount=
()=>{a&&a.delete(i),l&&l.call(i)}}}return s.children}return n._id="__cC"+wn++,n._defaultValue=e,n.Consumer=(s,a)=>s.children(a),n.Provider=n._contextRef=n.Consumer.
contextType=n,n}var me,A,et,je=0,Lt=[],R=C,vt=R._diff,xt=R._render,kt=R.diffed,wt=R._commit,Et=R.unmount,Ct=R._root,En=35,Ve;R._diff=e=>{A=null,vt&&vt(e)};R._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),Ct&&Ct(e,n)};R._render=e=>{xt&&xt(e),A=e._component,me=0;let n=A.__hooks;n&&(et===A?(n._pendingEffects=
[],A._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(Ie),n._pendingEffects.
some(tt),n._pendingEffects=[],me=0)),et=A};R.diffed=e=>{kt&&kt(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&Mn(Lt.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),et=A=null};R._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(Ie),s._renderCallbacks=
s._renderCallbacks.filter(a=>a._value?tt(a):!0)}catch(a){n.some(o=>{o._renderCallbacks&&(o._renderCallbacks=[])}),n=[],R._catchError(a,s._vnode)}}),wt&&wt(e,n)};
R.unmount=e=>{Et&&Et(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(a=>{try{Ie(a)}catch(o){s=o}}),n.__hooks=void 0,s&&R._catchError(s,n._vnode)}};
function Fe(e,n){R._hook&&R._hook(A,e,je||n),je=0;let s=A.__hooks||(A.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function k(e){return je=1,Cn(Tt,e)}function Cn(e,n,s){let a=Fe(me++,2);if(a._reducer=e,!a._component&&(a._value=[s?s(n):Tt(void 0,n),o=>{let i=a._nextValue?a._nextValue[0]:
a._value[0],l=a._reducer(i,o);i!==l&&(a._nextValue=[l,a._value[1]],a._component.setState({}))}],a._component=A,!A._hasScuFromHooks)){let l=function(p,d,m){if(!a.
_component.__hooks)return!0;let c=!1,f=a._component.props!==p;if(a._component.__hooks._list.some(u=>{if(u._nextValue){c=!0;let r=u._value[0];u._value=u._nextValue,
u._nextValue=void 0,r!==u._value[0]&&(f=!0)}}),o){let u=o.call(this,p,d,m);return c?u||f:u}return!c||f};A._hasScuFromHooks=!0;let o=A.shouldComponentUpdate,i=A.
componentWillUpdate;A.componentWillUpdate=function(p,d,m){if(this._force){let c=o;o=void 0,l(p,d,m),o=c}i&&i.call(this,p,d,m)},A.shouldComponentUpdate=l}return a.
_nextValue||a._value}function N(e,n){let s=Fe(me++,3);!R._skipEffects&&Mt(s._args,n)&&(s._value=e,s._pendingArgs=n,A.__hooks._pendingEffects.push(s))}function I(e){return je=5,X(()=>({current:e}),[])}function X(e,n){let s=Fe(me++,7);return Mt(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function z(e){let n=A.context[e._id],s=Fe(me++,9);return s._context=e,n?(s._value==null&&(s._value=!0,n.sub(A)),n.props.value):e._defaultValue}function Sn(){let e;for(;e=Lt.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(Ie),n._pendingEffects.some(tt),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],R._catchError(s,e._vnode)}}}var St=typeof requestAnimationFrame=="function";function Ln(e){let n=()=>{clearTimeout(s),St&&cancelAnimationFrame(
a),setTimeout(e)},s=setTimeout(n,En),a;St&&(a=requestAnimationFrame(n))}function Mn(e){(e===1||Ve!==R.requestAnimationFrame)&&(Ve=R.requestAnimationFrame,(Ve||Ln)(
Sn))}function Ie(e){let n=A,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),A=n}function tt(e){let n=A;e._cleanup=e._value(),A=n}function Mt(e,n){return!e||
e.length!==n.length||n.some((s,a)=>s!==e[a])}function Tt(e,n){return typeof n=="function"?n(e):n}var Pt="hns-token";function At(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(Pt,e),history.replaceState(null,"",location.
pathname+location.search))}var Z=class extends Error{constructor(s,a){super(a.title);this.status=s;this.problem=a}status;problem},Tn={title:"The command has end\
ed",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function nt(e,n,s){let a;try{a=await fetch(e,
{signal:n,credentials:"omit",cache:"no-store",headers:{"X-HNS-Token":sessionStorage.getItem(Pt)??"",...s?{"Content-Type":"application/json"}:{}},...s?{method:"P\
OST",body:JSON.stringify(s)}:{}})}catch(i){throw n?.aborted?i:new Z(0,Tn)}if(a.ok)return a;let o={title:`The server answers ${a.status}`};try{o=await a.json()}catch{}
throw new Z(a.status,o)}async function Rt(e,n){await nt(e,void 0,n)}var Pn=e=>({title:"It has been deleted",detail:e.detail,hint:"It was there when this page wa\
s opened."});function T(e,n,s=!1){let[a,o]=k({path:e}),i=I(),l=I(n);return N(()=>{if(s)return;let p=new AbortController,d=0,m=!1,c=!1,f=0,u=0,r=async()=>{m=!0,c=
!1;let y=0,h=performance.now();try{let E=await(await nt(e,p.signal)).json();if(p.signal.aborted)return;f=0,o({path:e,data:E,at:new Date})}catch(E){if(p.signal.aborted)
return;let M=E instanceof Z?E:new Z(0,{title:"The answer cannot be read",detail:String(E)}),{status:v}=M;o(w=>w.path!==e||v===403?{path:e,error:M}:v===404?{path:e,
error:w.data?new Z(404,Pn(M.problem)):w.error??M}:{...w,error:M}),(v===0||v>=500)&&(y=Math.min(30,2**++f)*1e3)}m=!1,u=performance.now()+Math.max(y,4*(performance.
now()-h)),(c||y)&&b()},b=i.current=()=>{c=!0,!m&&(clearTimeout(d),d=window.setTimeout(()=>document.hidden?document.addEventListener("visibilitychange",b,{once:!0,
signal:p.signal}):r(),Math.max(0,u-performance.now())))};return r(),()=>{p.abort(),clearTimeout(d)}},[e,s]),N(()=>{l.current!==n&&i.current?.(),l.current=n},[n]),
a.path===e?a:{}}function $t(){let[e,n]=k("connecting"),[s,a]=k(0);return N(()=>{let o,i=0,l=0,p=!1,d=()=>{p||document.hidden||(i=window.setTimeout(m,Math.min(15,
2**l++)*1e3))},m=async()=>{clearTimeout(i);let f=o=new AbortController,u=0,r=()=>{clearTimeout(u),u=window.setTimeout(()=>f.abort(),25e3)};try{r();let b=(await nt(
"/api/changes",f.signal)).body.pipeThrough(new TextDecoderStream).getReader();for(let y=await b.read();!y.done;y=await b.read())r(),l=0,n("live"),y.value.includes(
"changed")&&a(h=>h+1)}catch(b){b instanceof Z&&b.status===401&&(p=!0)}clearTimeout(u),!(o!==f||p)&&(document.hidden||(n("lost"),a(b=>b+1)),d())},c=()=>{clearTimeout(
i),o?.abort(),o=void 0,document.hidden||(l=0,a(f=>f+1),m())};return document.addEventListener("visibilitychange",c),document.hidden||m(),()=>{p=!0,clearTimeout(
i),o?.abort(),document.removeEventListener("visibilitychange",c)}},[]),[e,s]}function Ut(e){let n=new Map;for(let i of e)n.set(i.name,{member:i,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let i of n.values()){let l=i.
member.parent?n.get(i.member.parent):void 0;i.parentMissing=!!i.member.parent&&!l,l?l.children.push(i):s.push(i)}let a=new Set,o=i=>{let l=[i];a.add(i);for(let p=0;p<
l.length;p++){l[p].children=l[p].children.filter(d=>!a.has(d));for(let d of l[p].children)a.add(d),l.push(d)}for(let p=l.length-1;p>=0;p--){let d=l[p];d.problems=
d.member.problems?.length??0;for(let m of d.children)d.problems+=m.problems,d.descendants+=m.descendants+1;Nt(d.children)}};s.forEach(o);for(let i of n.values())
a.has(i)||(s.push(i),o(i));return Nt(s)}function Nt(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function An(e,n){
if(n.problems&&!e.problems?.length||n.mine&&!n.mine.has(e.name))return!1;let s=n.text.trim().toLowerCase(),a=s.indexOf("=");if(a>0){let o=e.labels??{},i=n.text.
trim().slice(0,a);return Object.hasOwn(o,i)&&o[i].toLowerCase()===s.slice(a+1)}return e.name.includes(s)}function de(e){return e.problems||!!e.mine||e.text.trim()!==
""}function fe(e,n,s){let a=de(n),o=new Set;if(a){let m=[];for(let c of e)m.push({node:c,above:[]});for(let c=m.pop();c;c=m.pop()){if(An(c.node.member,n)){o.add(
c.node);for(let u of c.above)o.add(u)}let f=c.node.children.length?[...c.above,c.node]:c.above;for(let u of c.node.children)m.push({node:u,above:f})}}let i=m=>a?
m.filter(c=>o.has(c)):m,l=[],p=[],d=(m,c,f)=>{for(let u=m.length-1;u>=0;u--)p.push({node:m[u],depth:c,parent:f,expanded:!1,position:u+1,siblings:m.length})};d(i(
e),0,-1);for(let m=p.pop();m;m=p.pop()){let c=i(m.node.children);m.expanded=c.length>0&&(a||s(m.node)),l.push(m),m.expanded&&d(c,m.depth+1,l.length-1)}return l}
function Dt(e,n,s){let a=Math.max(0,Math.min(n-Math.floor(s/2),e-s));return[a,Math.min(e,a+s)]}function V(e){let n=e.replace(/([a-z])([A-Z])/g,"$1 $2").toLowerCase();
return n.charAt(0).toUpperCase()+n.slice(1)}function we(e,n=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));return s<120?s+"s":s<
3*3600?Math.floor(s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function L(e,n,s=n+"s"){return`${e.
toLocaleString("en")} ${e===1?n:s}`}var Ot=e=>Math.round(e*100)+"%";function Rn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","G","T","P","E"].
indexOf(e);return n>=0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:1}function Ee(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/Rn(s)).toFixed(3)+s}function jt(e,n,s){
let a={name:e.namespace,own:0,sum:0,children:[]},o=new Map([[a.name,a]]);for(let{namespace:l,used:p}of e.namespaces){if(!p[n])continue;let d=o.get(l),m=[];for(let r=l;r&&
!o.has(r)&&!m.includes(r);r=s.get(r))m.push(r);let c=m.length&&s.get(m[m.length-1]),f=c&&o.get(c)||a,u=c&&o.has(c)?m:m.slice(0,1);for(let r of u.reverse())d={name:r,
own:0,sum:0,children:[]},f.children.push(d),o.set(r,d),f=d;d.own=p[n]}let i=l=>(l.sum=l.own+l.children.reduce((p,d)=>p+i(d),0),l.children.sort((p,d)=>d.sum-p.sum||
(p.name<d.name?-1:1)),l.sum);return i(a),a}function Ft(e,n){let s=o=>o.value*(1-o.share),a=new Map;for(let o of e)if(n.includes(o.namespace)&&!o.scoped)for(let i of o.
limits){let l=a.get(i.resource);(!l||s(i)<s(l.limit))&&a.set(i.resource,{quota:o,limit:i})}return[...a.values()].sort((o,i)=>i.limit.share-o.limit.share)}function It(e){
let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+`\r
`).join("")}function He(e){return e.replace(/(?![\n\t ])[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/gu,n=>`\
⟨U+${n.codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function Ht(e){let n=new Map;for(let s of e)for(let a of s.access??[]){let o=`${a.kind}\
 ${a.namespace?a.namespace+"/":""}${a.name} ${a.change==="Gained"?"gains":"loses"} ${a.roleKind}/${a.role}`;n.has(o)||n.set(o,{change:a.change,text:o,namespaces:[]}),
n.get(o).namespaces.push(s.name)}return[...n.values()]}var Be=500;function Bt(e){let i=[],l=e.map(({node:f,expanded:u})=>f.member.name+(!u&&f.descendants?`  +${f.
descendants}`:""));e.forEach((f,u)=>{i[f.depth]=Math.max(i[f.depth]??0,l[u].length*7.6+64)});let p=[];i.reduce((f,u,r)=>(p[r]=f,f+u),16);let d=e.map((f,u)=>({node:f.
node,name:f.node.member.name,label:l[u],x:p[f.depth],y:0,end:p[f.depth]+22+l[u].length*7.6,title:[f.node.member.name,...(f.node.member.problems??[]).map(r=>`${V(
r.reason)}: ${r.message}`)].join(`
`)})),m=e.map(()=>[]);e.forEach((f,u)=>{f.parent>=0&&(m[f.parent].push(u),d[u].parent=d[f.parent])});let c=0;e.forEach((f,u)=>{m[u].length||(d[u].y=16+(c+++.5)*
24)});for(let f=e.length-1;f>=0;f--){let u=m[f];u.length&&(d[f].y=(d[u[0]].y+d[u[u.length-1]].y)/2)}return{nodes:d,width:Math.ceil((p[p.length-1]??16)+(i[i.length-
1]??0)),height:Math.ceil(32+c*24)}}function ee(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function S({to:e,children:n,...s}){return t("a",{href:e,onClick:o=>{
o.button||o.ctrlKey||o.metaKey||o.shiftKey||o.altKey||(o.preventDefault(),ee(e))},...s},n)}var $n=C.vnode;C.vnode=e=>{e.type===null&&typeof e.props=="string"?e.
props=He(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=He(e.props.title)),$n?.(e)};function D(e){N(()=>{document.title=He(e)+" · hns"},[e])}function te(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function Ce(e,n,s){let a=document.createElement("a");a.href=URL.createObjectURL(new Blob([s],{type:n})),a.download=e,a.click(),
setTimeout(()=>URL.revokeObjectURL(a.href),1e4)}function F({list:e}){return t(_,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+n.slice(1))))}
var P=e=>"/ns/"+e,Q=(e,n,s)=>`/ns/${e}/${n}/${encodeURIComponent(s)}`,ge=e=>/^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$/.test(e)?e:"'"+e.replaceAll("'","'\\''")+
"'";function Qt({text:e,title:n}){let[s,a]=k(!1);return t("button",{onClick:()=>navigator.clipboard.writeText(e).then(()=>{a(!0),setTimeout(()=>a(!1),1500)})},t(
"span",{"aria-live":"polite"},s?"Copied":n))}function $({command:e}){let[n,s]=k(!1);return t("button",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).
then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},t("code",null,e),t("span",{"aria-live":"polite"},n?"Copied":"Copy"))}
function ne({problem:e}){return t("section",{class:"box bad",role:"alert"},t("h2",null,e.title),e.missingPermission&&t("p",null,"Missing permission: ",t("code",
null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),e.hint&&t("p",null,e.hint))}function U({from:e,children:n}){let[s,a]=k(!1);return N(()=>{
let o=setTimeout(()=>a(!0),200);return()=>clearTimeout(o)},[]),e.data?t(_,null,t(Kt,{from:e}),n(e.data)):e.error?t(ne,{problem:e.error.problem}):t("p",{class:"d\
im",role:"status"},s?"Reading from the cluster …":"")}function Kt({from:e}){return e.error?t("p",{class:"stale",role:"status"},t("b",null,e.error.problem.title,
".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint):null}function be({from:e,what:n=""}){let{data:s,error:a}=e,o=s&&"notes"in s?s.
notes:void 0;return t(_,null,a&&(s?t(Kt,{from:e}):t("p",{class:"note"},n,a.problem.missingPermission?t(_,null,"Missing permission: ",t("code",null,a.problem.missingPermission)):
a.problem.detail??a.problem.title)),o?.map(i=>t("p",{class:"note",key:i},n,i)))}function Se({text:e}){return t("pre",{class:"diff",tabIndex:0,role:"group","aria\
-label":"Difference"},e.split(`
`).filter((n,s,a)=>n||s<a.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function ye({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?V(n.type).toLowerCase():V(n.type))," ",t("b",null,V(n.reason))," ",t("span",{class:"message"},n.message))))}var Nn=30,Un=200,K=Ze({roots:[],parents:new Map});function Wt(e){let n=T("/api/forest",e),s=n.data?.namespaces,a=X(()=>({roots:Ut(s??[]),parents:new Map((s??[]).
map(o=>[o.name,o.parent]))}),[s]);return{...n,...a}}function Le(e){let{parents:n}=z(K),s=[e];for(let a=n.get(e);a&&n.has(a)&&!s.includes(a);a=n.get(a))s.unshift(
a);return s}function Gt({name:e}){let{data:n,roots:s}=z(K),a=Le(e),[o,i]=k(new Map);if(!n?.namespaces.length)return null;let p=fe(s,{text:"",problems:!1},({member:u})=>o.
get(u.name)??(n.namespaces.length<=Nn||a.includes(u.name))),[d,m]=Dt(p.length,p.findIndex(u=>u.node.member.name===e),Un),c=(u,r)=>i(new Map(o).set(u,r)),f=u=>u>
0&&t("li",{class:"dim"},t(S,{to:"/"},L(u,"more")));return t("nav",{class:"trees","aria-label":"Trees"},t("ul",null,f(d),p.slice(d,m).map(({node:u,depth:r,expanded:b})=>{
let{member:y,children:h,problems:E}=u;return t("li",{key:y.name,style:{"--depth":Math.min(r,6)}},h.length?t("button",{class:"twist","aria-expanded":b,"aria-labe\
l":`Children of ${y.name}`,onClick:()=>c(y.name,!b)},b?"▾":"▸"):t("span",{class:"twist"}),t(S,{to:P(y.name),title:y.name,"aria-current":y.name===e?"page":void 0,
class:y.problems?.length?"bad":""},y.name),E>0&&(y.problems?.length||!b)&&t("span",{class:"bad",title:L(E,"problem")},"●",t("span",{class:"hidden"}," ",L(E,"p\
roblem"))))}),f(p.length-m)))}function qt({version:e}){let n=T("/api/quotas",e),{parents:s}=z(K);return D("Quotas"),t("main",null,!n.data&&t("div",{class:"head"},t("h1",null,"Quotas")),t(U,{
from:n},a=>t(Dn,{data:a,parents:s})))}var _e=e=>e>=1?"full":e>=.8?"high":"";function he({limit:e,parts:n}){let s=a=>e.value>0?Math.min(100,a/e.value*100)+"%":"0\
%";return t("span",{class:"bar "+_e(e.share),role:"meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.
share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},(n??[{name:"",value:e.share*e.value}]).map((a,o)=>t("i",{key:a.name,class:o%2?"odd":"",style:{width:s(a.value)},
title:a.name&&`${a.name}: ${Ee(a.value,e.hard)}`})))}function Dn({data:e,parents:n}){let[s,a]=te(),o=s.get("resource")??"",i=[...new Set(e.quotas.flatMap(m=>m.limits.
map(c=>c.resource)))].sort(),l=m=>Math.max(0,...m.limits.filter(c=>!o||c.resource===o).map(c=>c.share)),p=e.quotas.filter(m=>!o||m.limits.some(c=>c.resource===o)).
sort((m,c)=>+!!c.problems-+!!m.problems||l(c)-l(m)),d=e.quotas.filter(m=>m.limits.some(c=>c.share>=1)).length;return t(_,null,t("div",{class:"head"},t("h1",null,
"Quotas"),t("p",{class:"summary"},L(e.quotas.length,"quota"),", the fullest first",d>0&&t(_,null," · ",t("b",{class:"bad"},d," full"))),t($,{command:"kubectl h\
ns quota -A --tree"})),t(F,{list:e.notes}),i.length>1&&t("div",{class:"tools"},t("label",null,"Resource ",t("select",{value:o,onChange:m=>a(m.target.value?{resource:m.
target.value}:{})},t("option",{value:""},"all"),i.map(m=>t("option",{key:m,value:m},m))))),p.length?p.map(m=>t(On,{key:m.namespace+"/"+m.name,quota:m,parents:n,
only:o})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may see","."))}function On({quota:e,parents:n,
only:s}){let[a,o]=k(""),i=e.limits.filter(l=>!s||l.resource===s);return t("section",{class:"box","aria-label":`Quota ${e.name} of ${e.namespace}`,"data-quota":e.
namespace+"/"+e.name},t("h2",null,t(S,{to:P(e.namespace)},e.namespace)," ",t("span",{class:"dim"},"/")," ",t(S,{to:Q(e.namespace,"hierarchicalresourcequotas.hnc\
.x-k8s.io",e.name)},e.name)," ",e.scoped&&t("span",{class:"tag"},"scoped")),e.problems&&t(ye,{list:e.problems}),i.map((l,p)=>{let d=jt(e,l.resource,n),m=a===l.resource;
return t("div",{class:"limit",key:l.resource},t("button",{class:"twist","aria-expanded":m,"aria-label":`Use of ${l.resource} by namespace`,disabled:!d.children.
length&&!d.own,onClick:()=>o(m?"":l.resource)},m?"▾":"▸"),t("span",{class:"what"},l.resource,p===0&&e.limits.length>1&&!s&&l.share>0&&t("span",{class:"tag"},
"binds first")),t(he,{limit:l,parts:e.omitted?void 0:[...d.own?[{name:e.namespace,value:d.own}]:[],...d.children.map(c=>({name:c.name,value:c.sum}))]}),t("span",
{class:"num "+_e(l.share)},l.used," of ",l.hard," ",t("span",{class:"dim"},Ot(l.share))),m&&t("ul",{class:"use"},t(zt,{use:d,limit:l})))}),i.length===0&&t("p",{
class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"note"},L(e.omitted,"namespace")," more use it than are listed."))}function zt({use:e,limit:n}){let s={
...n,used:Ee(e.sum,n.hard),share:n.value>0?e.sum/n.value:1};return t("li",null,t("div",{class:"branch"},t(S,{to:P(e.name)},e.name),t("span",{class:"num"},Ee(e.sum,
n.hard),e.children.length>0&&t("span",{class:"dim"}," (",Ee(e.own,n.hard)," itself)")),t(he,{limit:s})),e.children.length>0&&t("ul",null,e.children.map(a=>t(zt,
{key:a.name,use:a,limit:n}))))}function Yt({name:e,version:n}){let s=T("/api/namespaces/"+e,n);return D(e),t("main",null,!s.data&&t(Qe,{name:e,page:""}),t(U,{from:s},a=>t(Fn,{ns:a,version:n})))}
var jn=[["","Overview"],["access","Access"]];function Qe({name:e,page:n,path:s,abstract:a,children:o}){let i=Le(e);return t(_,null,t(st,{names:s??i,abstract:a}),
t("div",{class:"head"},t("h1",null,e),o),t("nav",{class:"tabs","aria-label":"Pages of "+e},jn.map(([l,p])=>t(S,{key:l,to:P(e)+(l&&"/"+l),"aria-current":l===n?"p\
age":void 0},p)),t(S,{to:"/plan?namespace="+e},"Plan a change"),t(S,{to:Q(e,"hierarchies.hnc.x-k8s.io","hierarchy")},"Hierarchy as YAML")))}function st({names:e,
abstract:n=[],object:s}){return t("nav",{"aria-label":"Path to the root",class:"path"},t("ol",null,t("li",null,t(S,{to:"/"},"Forest")),[...n].reverse().map(a=>t(
"li",{key:"a "+a,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},a)),e.map((a,o)=>t("li",{key:a},!s&&o===e.length-1?t("b",{"aria-current":"\
page"},a):t(S,{to:P(a)},a))),s&&t("li",null,t("b",{"aria-current":"page"},s))))}function Fn({ns:e,version:n}){let s=[e.kind==="full"?"full namespace":e.kind,e.path.
length>1?`level ${e.path.length}`:"root",e.created&&`${we(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&
e.cascadingDeletionSetFrom!==e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return t(_,null,t(Qe,{name:e.name,page:"",path:e.path,abstract:e.
abstractAncestors},t("p",{class:"summary"},e.deleting&&t(_,null,t("b",{class:"bad"},"being deleted")," · "),s.join(" · ")),t($,{command:"kubectl hns describe "+
e.name})),e.excluded&&t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),t(F,{list:e.notes}),!!e.problems?.length&&t(
"section",{class:"box bad"},t("h2",null,L(e.problems.length,"problem")),t(ye,{list:e.problems})),t("div",{class:"columns"},t("section",{"aria-labelledby":"polic\
y"},t("h2",{id:"policy"},"Policy"),e.resources.map(a=>t(In,{key:a,namespace:e.name,resource:a,version:n}))),t("div",null,t(Hn,{ns:e}),t(Bn,{ns:e,version:n}),t(Qn,
{ns:e}),t(Kn,{namespace:e.name,version:n}))))}function In({namespace:e,resource:n,version:s}){let a=T(`/api/namespaces/${e}/objects/${n}`,s),[o,...i]=n.split("."),
l=a.data?.items??[],p=l.filter(d=>d.state!=="Absent").length;return t("section",{class:"kind","aria-label":n},t("h3",null,t("span",null,o),i.length>0&&t("small",
{class:"dim"},i.join(".")),t("span",{class:"grow"}),a.data&&t("small",{class:"dim"},p?L(p,"object"):"none"),a.data?.mode&&t("span",{class:"tag"},a.data.mode)),t(
be,{from:a}),l.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,"Name"),t("th",null,"Where it comes from"))),t("tbody",null,l.map(d=>t(
"tr",{key:d.name,class:d.state},t("td",null,t(S,{to:Q(e,n,d.name)},d.name)),t("td",null,d.state==="Copy"?t(_,null,"copied from ",t(S,{to:P(d.source)},d.source)):
d.state==="Local"?t(_,null,"made here ",d.override&&t("span",{class:"tag"},"override")):t(_,null,t("span",{class:"tag"},"not here")," is in ",t(S,{to:P(d.source)},
d.source)," · ",t(S,{to:Q(e,n,d.name)},"why not here?"))))))))}function Hn({ns:e}){return t("section",{class:"box","aria-labelledby":"children"},t("h2",{id:"ch\
ildren"},"Children ",t("small",{class:"dim"},e.children.length||"")),e.children.length?t("ul",{class:"plain"},e.children.map(n=>t("li",{key:n.name},t(S,{to:P(n.
name)},n.name)," ",t("span",{class:"dim"},n.subnamespace?"sub-namespace":""),n.state&&n.state!=="Ok"&&t("span",{class:"tag bad"},n.state)))):t("p",{class:"dim"},
"None."))}function Bn({ns:e,version:n}){let s=T("/api/quotas",n),a=s.data?Ft(s.data.quotas,e.path):[];return!a.length&&!s.error&&!s.data?.notes?null:t("section",
{class:"box","aria-labelledby":"limits","data-limits":!0},t("h2",{id:"limits"},"Quotas: what is left"),t(be,{from:s}),t("ul",{class:"plain limits"},a.map(({quota:o,
limit:i})=>t("li",{key:i.resource},t(S,{to:"/quotas?"+new URLSearchParams({resource:i.resource})},i.resource)," ",t(he,{limit:i}),t("span",{class:"dim"},t("b",{
class:_e(i.share)},i.used," of ",i.hard)," below ",o.namespace)))))}function Qn({ns:e}){let n=e.labelsFrom.filter(o=>!o.tree),s=e.labelsFrom.filter(o=>o.tree),a=o=>t(
"li",{key:o.key},t("code",null,o.key,"=",o.value),o.from&&t("span",{class:"dim"}," set by the hierarchy ",o.from===e.name?"here":t(_,null,"in ",t(S,{to:P(o.from)},
o.from))));return t("section",{class:"box","aria-labelledby":"labels"},t("h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(a)):t("p",{class:"di\
m"},"None of its own."),s.length>0&&t("details",null,t("summary",null,s.length," set by its place in the tree"),t("ul",{class:"plain"},s.map(a))))}function Kn({
namespace:e,version:n}){let s=T(`/api/namespaces/${e}/events`,n),[a,o]=k(!1),i=s.data??[],l=a?i:i.slice(0,8);return t("section",{class:"box","aria-labelledby":"\
events"},t("h2",{id:"events"},"Events ",t("small",{class:"dim"},i.length||"")),t(be,{from:s}),l.length>0&&t("ul",{class:"plain events"},l.map((p,d)=>t("li",{key:d},
t("span",{class:"tag "+(p.warning?"bad":"")},p.reason)," ",t("b",null,p.kind,"/",p.name)," ",t("span",{class:"dim"},we(p.last),p.count>1&&` ×${p.count}`),t("br",
null),t("span",{class:"message"},p.message)))),i.length>l.length&&t("button",{onClick:()=>o(!0)},"Show ",i.length-l.length," more"),s.data&&!i.length&&t("p",{class:"\
dim"},"None."))}var Wn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],Gn=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function Jt({name:e,version:n}){let[s,a]=te(),o=s.get("verb")??"",i=s.get("resource")??"",l=o!==""&&i!=="",p=T(`/api/namespaces/${e}/access`+(l?"?"+
new URLSearchParams({verb:o,resource:i}):""),n);return D(`Access to ${e}`),t("main",null,t(Qe,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:m=>{m.
preventDefault();let c=new FormData(m.target);a({verb:String(c.get("verb")).trim(),resource:String(c.get("resource")).trim()})},key:o+" "+i,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",defaultValue:o,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-lab\
el":"Verb"})),t("input",{name:"resource",list:"resources",defaultValue:i,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"R\
esource"}),t("span",null,"in ",e,"?"),t("datalist",{id:"verbs"},Wn.map(m=>t("option",{key:m,value:m}))),t("datalist",{id:"resources"},Gn.map(m=>t("option",{key:m,
value:m}))),t("button",{class:"primary"},"Show"),l&&t("button",{type:"button",onClick:()=>a({})},"Show all grants"),t("span",{class:"grow"}),t($,{command:`kubec\
tl hns who ${e}`+(l?` ${ge(o)} ${ge(i)}`:"")})),t(U,{from:p},m=>t(qn,{name:e,access:m,permission:l?`${o} ${i}`:""})))}var Ke=e=>e.subject.namespace?`${e.subject.
namespace}/${e.subject.name}`:e.subject.name;function qn({name:e,access:n,permission:s}){let[a,o]=k(""),i=n.grants??[],l=i.filter(r=>(Ke(r)+" "+r.role).toLowerCase().
includes(a.trim().toLowerCase())),p=l.filter(r=>!r.unknown),d=p.filter(r=>r.at),m=p.filter(r=>!r.at),c=l.filter(r=>r.unknown),f=new Set(i.filter(r=>!r.unknown).
map(r=>r.subject.kind+" "+Ke(r))).size,u=()=>Ce(`access-${e}.csv`,"text/csv",It([["kind","subject","role","binding","set in","only","known"],...l.map(r=>[r.subject.
kind,Ke(r),r.role,r.binding,r.at??"(cluster)",(r.names??[]).join(" "),r.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},
s?`${L(f,"subject")} can ${s} in ${e}`:`${L(f,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","\
aria-label":"Filter by subject or role",value:a,onInput:r=>o(r.target.value)}),t("button",{onClick:u,disabled:!l.length},"CSV")),t(F,{list:n.notes}),t(at,{title:"\
By bindings in the namespace and its ancestors",name:e,grants:d,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(at,{title:"In the\
 whole cluster",name:e,grants:m,open:d.length===0&&s!==""}),t(at,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:c,open:!0}),
t("p",{class:"dim"},"As RBAC grants it. Members of the group system:masters may do everything."))}function at({title:e,name:n,grants:s,open:a,empty:o}){return!s.
length&&!o?null:t("details",{class:"box fold",open:a},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"list"},t(
"thead",null,t("tr",null,t("th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,s.map((i,l)=>t("tr",{key:l},t(
"td",null,t("span",{class:"dim"},i.subject.kind)," ",t("b",null,Ke(i))),t("td",{"data-label":"Role"},i.role,i.names&&t("span",{class:"dim"}," only ",i.names.join(
", "))),t("td",{"data-label":"Binding"},i.binding.startsWith("RoleBinding/")?t(S,{to:Q(n,"rolebindings.rbac.authorization.k8s.io",i.binding.slice(12))},i.binding):
i.binding),t("td",{"data-label":"Set in"},i.at?i.at===n?"here":t(S,{to:P(i.at)},i.at):"the cluster"))))):t("p",{class:"dim"},o))}var zn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function Zt({version:e}){let n=T("/api/administration",e),[s,a]=k(0),o=T("/api/checks",s);return D("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(U,{from:n},i=>t(Yn,{a:i})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>a(i=>i+1)},"Check again"),t($,{command:"kubectl hns doctor"})),t(U,{from:o},
i=>t(Jn,{list:i}))))}function Yn({a:e}){return t(_,null,t(F,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,L(e.problems.length,
"problem")),t(ye,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t($,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},zn[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hns-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(_,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t($,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},L(n.objects,"object"),n.applied&&t(_,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(_,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var Xt=["error","warning","unknown","ok"];function Jn({list:e}){let n=[...e].sort((l,p)=>Xt.indexOf(
l.severity)-Xt.indexOf(p.severity)),s=n.filter(l=>l.severity==="error"||l.severity==="warning"),a=n.filter(l=>l.severity==="unknown"),o=n.filter(l=>l.severity===
"ok"),i=l=>t("ul",{class:"plain checks"},l.map((p,d)=>t("li",{key:d,class:p.severity},t("span",{class:"tag "+(p.severity==="ok"?"":p.severity==="unknown"?"warn":
"bad")},p.severity),t("span",null,t("b",null,p.subject)," ",p.text,p.hint&&t("p",{class:"hint"},p.hint)))));return t(_,null,s.length?i(s):t("p",{class:o.length?
"good":"dim"},o.length," of ",L(e.length,"check")," without findings."),a.length>0&&t("details",null,t("summary",null,L(a.length,"check")," for which you lack p\
ermissions"),i(a)),o.length>0&&t("details",null,t("summary",null,L(o.length,"check")," without findings"),i(o)))}var Y={text:"#1b2330",line:"#c3cad4",node:"#2251b8",bad:"#a8231b",back:"#ffffff"};function Vt({roots:e,filter:n,isExpanded:s}){let a=I(null),[o,i]=k(""),l=fe(e,
n,s),{nodes:p,width:d,height:m}=X(()=>Bt(l.slice(0,Be)),[l.length,e,n]),c=()=>new XMLSerializer().serializeToString(a.current),f=()=>Ce("forest.svg","image/svg+\
xml",c()),u=async()=>{try{let r=new Image;r.src="data:image/svg+xml;charset=utf-8,"+encodeURIComponent(c()),await r.decode();let b=Math.min(2,16e3/Math.max(d,m)),
y=document.createElement("canvas");y.width=d*b,y.height=m*b,y.getContext("2d").drawImage(r,0,0,y.width,y.height),y.toBlob(h=>h?Ce("forest.png","image/png",h):i(
"The drawing is too large for a PNG. Save it as SVG."))}catch{i("The browser cannot make a PNG of the drawing. Save it as SVG.")}};return t("section",{class:"bo\
x drawing","aria-label":"Drawing of the forest"},t("div",{class:"tools"},t("span",{class:"dim",role:"status"},o||(l.length>Be?`The first ${L(Be,"namespace")} of\
 ${l.length}: collapse trees in the table, or filter`:L(l.length,"namespace"))),t("span",{class:"grow"}),t("button",{onClick:f},"Save SVG"),t("button",{onClick:u},
"Save PNG")),t("div",{class:"canvas",tabIndex:0,role:"group","aria-label":"Drawing, scrollable"},t("svg",{ref:a,xmlns:"http://www.w3.org/2000/svg",width:d,height:m,
viewBox:`0 0 ${d} ${m}`,role:"group","aria-label":`${L(p.length,"namespace")} as trees`,"font-family":"system-ui, sans-serif","font-size":"13"},t("rect",{width:d,
height:m,fill:Y.back,class:"back"}),p.map(r=>r.parent&&t("path",{key:"to "+r.name,d:`M${r.parent.end} ${r.parent.y}H${r.x-38}C${r.x-20} ${r.parent.y} ${r.x-26} ${r.
y} ${r.x-8} ${r.y}`,fill:"none",stroke:Y.line,class:"edge"})),p.map(r=>t("a",{key:r.name,href:P(r.name),class:r.node.member.problems?.length?"bad":"",onClick:b=>{
b.preventDefault(),ee(P(r.name))},"data-namespace":r.name},t("title",null,r.title),t("circle",{cx:r.x,cy:r.y,r:5,fill:r.node.member.problems?.length?Y.bad:r.node.
member.kind==="full"?Y.node:Y.back,stroke:r.node.member.problems?.length?Y.bad:Y.node,"stroke-width":"2"}),t("text",{x:r.x+11,y:r.y+4.5,fill:r.node.member.problems?.
length?Y.bad:Y.text,"font-weight":r.node.member.problems?.length?"bold":"normal"},r.label))))),t("p",{class:"dim"},"A filled circle is a full namespace, an open\
 one a sub-namespace; red ones have problems."))}var J=30,Xn=200,en=4,tn=6,ot=new Map,rt={text:"",problems:!1},nn="",sn="";function an({version:e,tick:n}){let s=z(K);D("Forest");let a=T("/api/quotas",e);return t(
"main",{class:"forest"},!s.data&&t("div",{class:"head"},t("h1",null,"Forest")),t(U,{from:s},o=>t(Vn,{forest:o,roots:s.roots,quotas:a,tick:n})))}function Zn(e,n){
let s=new Map;for(let a of e)for(let o of a.limits)(!n||o.resource===n)&&!(s.get(a.namespace)?.share>=o.share)&&s.set(a.namespace,o);return s}function Vn({forest:e,
roots:n,quotas:s,tick:a}){let o=s.data?.quotas,[i,l]=k(nn),p=x=>{nn=x,l(x)},d=X(()=>[...new Set(o?.flatMap(x=>x.limits.map(G=>G.resource)))].sort(),[o]),m=X(()=>o?.
length?Zn(o,i):void 0,[o,i]),[c,f]=te(),u=c.get("view")==="drawing",[r,b]=k(rt),[y,h]=k(!!rt.mine),E=T("/api/mine",a,!y);N(()=>M({...r,mine:y&&E.data?new Set(E.
data):void 0}),[y,E.data]);let M=x=>{rt=x,b(x)},[,v]=k(0),w=e.namespaces.length<=Xn,H=x=>ot.get(x.member.name)??(w||x.problems>(x.member.problems?.length??0)),B=fe(
n,r,H),W=e.namespaces.filter(x=>x.problems?.length),We=(x,G)=>{ot.set(x.member.name,G),v(un=>un+1)},ie=x=>{for(let G of e.namespaces)ot.set(G.name,x);v(G=>G+1)};
return t("div",null,t("div",{class:"head"},t("h1",null,"Forest"),t("p",{class:"summary"},L(e.namespaces.length,"namespace")," in ",L(n.length,"tree"),W.length?t(
_,null," · ",t("b",{class:"bad"},L(W.length,"namespace")," with problems"),": ",W.slice(0,en).map(x=>t(_,null,t(S,{to:P(x.name),key:x.name},x.name)," ")),W.length>
en&&"…"):!e.partial&&t(_,null," · ",t("span",{class:"good"},"no problems"))),t($,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),
t(be,{from:s,what:"Quotas: "}),t("div",{class:"tools"},t("input",{id:"search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by na\
me, or by label=value",value:r.text,onInput:x=>M({...r,text:x.target.value}),spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"check\
box",checked:r.problems,onChange:x=>M({...r,problems:x.target.checked})})," With problems"),t("label",{class:"check",title:"Namespaces that you may get by a rol\
e in them"},t("input",{type:"checkbox",checked:y,onChange:x=>h(x.target.checked)})," Mine"),t("span",{class:"grow"}),t("span",{class:"views",role:"group","aria-\
label":"View"},[["","Table"],["drawing","Drawing"]].map(([x,G])=>t("button",{key:x,"aria-pressed":u===(x==="drawing"),onClick:()=>f(x?{view:x}:{})},G))),!u&&d.length>
0&&t("label",null,"Quota of ",t("select",{value:i,onChange:x=>p(x.target.value)},t("option",{value:""},"the fullest"),d.map(x=>t("option",{key:x,value:x},x)))),
t("button",{onClick:()=>ie(!0),disabled:de(r)},"Expand all"),t("button",{onClick:()=>ie(!1),disabled:de(r)},"Collapse all")),y&&E.error&&t(ne,{problem:E.error.problem}),
u&&B.length?t(Vt,{roots:n,filter:r,isExpanded:H}):B.length?t(es,{list:B,toggle:We,filter:r,limits:m}):t("p",{class:"dim box",role:"status"},de(r)?"No namespace \
matches the filter.":"There are no namespaces that you may see."))}function es({list:e,toggle:n,filter:s,limits:a}){let o=de(s),i=I(null),[l,p]=k({top:0,height:800}),
[d,m]=k(sn),c=v=>{sn=v,m(v)},f=Math.max(0,e.findIndex(v=>v.node.member.name===d));N(()=>b(f),[]),N(()=>{o&&(i.current.scrollTop=0)},[s.text,s.problems,!!s.mine]);
let u=()=>{let v=i.current;v&&p({top:v.scrollTop,height:v.clientHeight})};N(()=>(u(),addEventListener("resize",u),()=>removeEventListener("resize",u)),[e.length]);
let r=v=>{v=Math.max(0,Math.min(e.length-1,v)),c(e[v].node.member.name),b(v)},b=v=>{let w=i.current;v*J<w.scrollTop&&(w.scrollTop=v*J),(v+1)*J>w.scrollTop+w.clientHeight&&
(w.scrollTop=(v+1)*J-w.clientHeight)},y=v=>{let w=e[f],H=Math.max(1,Math.floor(l.height/J)-1);if(!(v.ctrlKey||v.metaKey||v.altKey)){switch(v.key){case"ArrowDown":
r(f+1);break;case"ArrowUp":r(f-1);break;case"PageDown":r(f+H);break;case"PageUp":r(f-H);break;case"Home":r(0);break;case"End":r(e.length-1);break;case"ArrowRigh\
t":w.expanded?r(f+1):w.node.children.length&&!o&&n(w.node,!0);break;case"ArrowLeft":w.expanded&&!o?n(w.node,!1):w.parent>=0&&r(w.parent);break;case"Enter":ee(P(
w.node.member.name));break;default:return}v.preventDefault()}},h=Math.max(0,Math.floor(l.top/J)-10),E=Math.min(e.length,Math.ceil((l.top+l.height)/J)+10),M=e.slice(
h,E);return t("div",{class:"grid"+(a?" limited":""),role:"treegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,onKeyDown:y,
"aria-activedescendant":f>=h&&f<E?"row-"+e[f].node.member.name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},t("span",{role:"columnheader"},
"Namespace"),t("span",{role:"columnheader"},"Problems"),a&&t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"columnheader",class:"wide"},"Kin\
d"),t("span",{role:"columnheader",class:"num wide",title:"Namespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},"Age")),t("div",{class:"rows",role:"\
rowgroup",ref:i,onScroll:u,tabIndex:-1},t("div",{role:"presentation",style:{height:e.length*J+"px",position:"relative"}},M.map((v,w)=>t(ts,{key:v.node.member.name,
row:v,index:h+w,active:h+w===f,fixed:o,choose:()=>c(v.node.member.name),toggle:n,limits:a})))))}function ts({row:e,index:n,active:s,fixed:a,choose:o,toggle:i,limits:l}){
let{node:p,depth:d,expanded:m}=e,{member:c,children:f}=p,u=c.problems?.length??0,r=p.problems-u,b=l?.get(c.name);return t("div",{id:"row-"+c.name,role:"row",class:"\
row"+(s?" active":"")+(u?" troubled":""),"aria-level":d+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-expanded":f.length?m:void 0,
style:{top:n*J+"px","--depth":Math.min(d,tn)},onMouseDown:o,draggable:!0,onDragStart:y=>y.dataTransfer.setData("text/x-namespace",c.name),onDragOver:y=>{y.dataTransfer.
types.includes("text/x-namespace")&&y.preventDefault()},onDrop:y=>{y.preventDefault();let h=y.dataTransfer.getData("text/x-namespace");h&&h!==c.name&&ee("/plan?"+
new URLSearchParams({namespace:h,change:"move",parent:c.name}))}},t("span",{role:"gridcell",class:"name"},f.length?t("button",{class:"twist",tabIndex:-1,"aria-h\
idden":"true",disabled:a,onClick:()=>i(p,!m)},m?"▾":"▸"):t("span",{class:"twist"}),d>tn&&t("span",{class:"dim level",title:"Level in the tree"},d+1),t(S,{to:P(
c.name),tabIndex:-1,title:c.name},c.name),c.deleting&&t("span",{class:"tag"},"deleting")),t("span",{role:"gridcell",class:"what"},u?t("span",{class:"problem",title:c.
problems.map(y=>`${V(y.type)}: ${y.message}`).join(`
`)},t("b",null,V(c.problems[0].reason))," ",t("span",{class:"wide"},c.problems[0].message),u>1&&` +${u-1}`):r&&!m?t("span",{class:"problem below"},r," below"):null),
l&&t("span",{role:"gridcell",class:"quota wide"},b&&t(S,{to:"/quotas",tabIndex:-1,title:`${b.resource}: ${b.used} of ${b.hard}`},t(he,{limit:b})," ",t("span",{class:_e(
b.share)},b.used,"/",b.hard)," ",t("span",{class:"dim"},b.resource))),t("span",{role:"gridcell",class:"dim wide"},c.kind==="full"?"":c.kind),t("span",{role:"gri\
dcell",class:"num dim wide"},p.descendants||""),t("span",{role:"gridcell",class:"num dim"},we(c.created)))}function on({version:e,...n}){let{namespace:s,resource:a,name:o}=n,i=`/api/namespaces/${s}/objects/${encodeURIComponent(a)}/${encodeURIComponent(o)}`,l=T(i,e),p=l.
data&&l.data.state!=="Absent";return D(`${o} in ${s}`),t("main",null,t(st,{names:Le(s),object:o}),t("div",{class:"head"},t("h1",null,o),t("p",{class:"summary"},
a," in ",s),t($,{command:`kubectl hns why ${ge(`${a}/${o}`)} -n ${s}`})),t(U,{from:l},d=>t(ns,{a:d,place:n})),p&&t(ss,{path:i+"/content",version:e,place:n}))}function ns({
a:e,place:n}){let s={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in ${e.namespace}.`}[e.state];
return t("div",{class:"story"},t("section",{class:"box","data-state":e.state},t("h2",null,s),t("ul",null,e.because.map(a=>t("li",{key:a,class:"message"},a)))),t(
"section",{"aria-labelledby":"way"},t("h2",{id:"way"},"From the root to ",e.namespace),t("ol",{class:"way"},[...e.levels].reverse().map(a=>{let o=a.namespace===
e.namespace,i=a.namespace===e.source;return t("li",{key:a.namespace,class:i?"source":a.state==="Local"?"Local":o?"here "+e.state:a.state},t(S,{to:a.state&&a.state!==
"Absent"&&!o?Q(a.namespace,n.resource,n.name):P(a.namespace)},a.namespace)," ",t("span",{class:"dim"},a.unread?`not known: ${a.unread}`:i?"the source":a.state===
"Copy"?`a copy${a.source===e.source?"":` of ${a.source}`}`:a.state==="Local"?"made here":"not here"),a.mode&&a.mode!=="Propagate"&&t("span",{class:"tag",title:"\
How objects of the kind are propagated from here"},a.mode))}))))}function ss({path:e,version:n,place:s}){let a=T(e,n);return t(U,{from:a},o=>t(_,null,t(F,{list:o.
notes}),o.source&&!o.difference&&!o.notes&&t("p",{class:"dim"},"It is equal to its source, apart from what the server sets."),o.difference&&t("details",{class:"\
box fold"},t("summary",null,t("h2",null,"Difference from the source in ",o.source)),t(Se,{text:o.difference})),o.overwritten&&t("details",{class:"box fold",open:!0,
"data-overwritten":!0},t("summary",null,t("h2",null,"What it has overwritten")),t("p",{class:"dim"},"An ancestor's object replaced one that was made here. Remov\
ed lines are those of the former."),t(Se,{text:o.overwritten}),t($,{command:`kubectl hns why ${ge(`${s.resource}/${s.name}`)} -n ${s.namespace} --overwritten`})),
t("details",{class:"box fold","data-yaml":!0},t("summary",null,t("h2",null,"YAML")),t("div",{class:"tools"},t("span",{class:"grow"}),t(Qt,{text:o.manifest,title:"\
Copy as YAML"})),t("pre",{class:"yaml",tabIndex:0,role:"group","aria-label":"YAML"},o.manifest))))}var Me={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of\
 a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},
forbid:{title:"Forbid cascading deletion",fields:[],write:!0}},rn={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},as=["Propagate",
"AllowPropagate","Remove","Ignore"],os=2e3;function cn({version:e}){let[n,s]=te(),a=T("/api/session",0),o=z(K),i=Object.fromEntries(n),l=Object.hasOwn(Me,i.change),
[p,d]=k(l?i.change:"move");N(()=>{l&&d(i.change)},[i.change]),D(i.namespace?`Plan for ${i.namespace}`:"Plan");let m=i.namespace&&l&&Me[i.change].fields.every(r=>i[r]),
c=r=>{r.preventDefault();let b=new FormData(r.target);s(Object.fromEntries(["namespace","change",...Me[p].fields].map(y=>[y,String(b.get(y)).trim()])))},f=(o.data?.
namespaces??[]).slice(0,os),u=(r,b)=>t("input",{key:r,name:r,"aria-label":rn[r]??"Namespace",placeholder:rn[r]??"Namespace",list:b,defaultValue:i[r]??"",required:!0,
autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would do. Looking at i\
t changes nothing.")),t("form",{class:"tools ask box",onSubmit:c,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",u("namespace","namespaces")),t(
"select",{name:"change","aria-label":"Change",value:p,onChange:r=>d(r.target.value)},Object.entries(Me).filter(([,r])=>!r.write||a.data?.write).map(([r,b])=>t("\
option",{key:r,value:r},b.title))),Me[p].fields.map(r=>r==="mode"?t("select",{key:r,name:r,"aria-label":"Mode"},as.map(b=>t("option",{key:b,value:b,selected:b===
i.mode},b))):u(r,r==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},f.map(r=>t("option",{key:r.name,value:r.name}))),t("button",{class:"primary"},
"Preview")),m&&t(rs,{key:n.toString(),fields:i,version:e,session:a.data}))}function rs({fields:e,version:n,session:s}){let[a,o]=k(!1),[i,l]=k(0),{namespace:p,...d}=e,
m=T(`/api/namespaces/${encodeURIComponent(p)}/plan?`+new URLSearchParams(d),n+i,a);return a?t("p",{class:"box good",role:"status"},"Done. ",e.change==="delete"?
"The namespace is being deleted.":"Copies follow within seconds."," ",t(S,{to:e.change==="delete"?"/":P(e.child??p)},e.change==="delete"?"Forest":e.child??p)):t(
U,{from:m},c=>t(is,{plan:c,fields:e,write:!!s?.write,done:()=>o(!0),changed:()=>l(f=>f+1)}))}function is(e){let{plan:n,fields:s}=e,a=n.status,[o,i]=k(!1),l=a.namespaces??
[],p=o?l:l.slice(0,50),d=Ht(l),m=a.hidden?.map(c=>c.group?`${c.resource}.${c.group}`:c.resource);return t("div",{"data-plan":s.change},a.refusals?.map(c=>t("sec\
tion",{class:"box bad",role:"alert",key:c.message},t("h2",null,"It would be refused: ",c.reason),t("p",{class:"message"},c.message))),t("section",{class:"box"},
t("div",{class:"head"},t("div",{role:"status"},t("h2",null,n.summary)),t("span",{class:"grow"}),n.see&&t($,{command:n.see})),a.exceededQuotas&&t(_,null,t("h3",{
class:"bad"},"Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",
{class:"num"},"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,a.exceededQuotas.map(c=>t("tr",{key:c.namespace+c.name+c.resource},
t("td",null,c.namespace,"/",c.name),t("td",null,c.resource),t("td",{class:"num","data-label":"Used"},c.used),t("td",{class:"num","data-label":"Moved"},c.moved),
t("td",{class:"num","data-label":"Limit"},c.limit)))))),!!a.omittedExceededQuotas&&t("p",{class:"note"},L(a.omittedExceededQuotas,"limit")," more would be excee\
ded, of quotas that you may not get, or that are too many."),d.length>0&&t(_,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},d.map(c=>t("li",{key:c.
text},t("span",{class:"mark "+c.change},c.change==="Gained"?"+":"−"),c.text," ",t("span",{class:"dim"},"in ",c.namespaces.length>3?L(c.namespaces.length,"name\
space"):c.namespaces.join(", "))))))),t(F,{list:[...m?[`Left out, because you may not list them in ${s.namespace}: ${m.join(", ")}`]:[],...(a.unknown??[]).map(c=>"\
Not known: "+c)]}),p.map(c=>t(cs,{key:c.name,plan:c,open:l.length<=5})),p.length<l.length&&t("button",{onClick:()=>i(!0)},"Show ",l.length-p.length," more names\
paces"),t(ps,{...e}))}var ls={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},ln={Add:"added",Change:"changed",Overwrite:"overwritten",Remove:"removed",
Keep:"kept"};function cs({plan:e,open:n}){let s=e.objects??[],a=Object.entries(ln).map(([o,i])=>[s.filter(l=>l.action===o).length,i]).filter(([o])=>o);return t(
"details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t("h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},e.fate.toLowerCase())," ",
t("span",{class:"dim"},a.map(([o,i])=>`${o} ${i}`).join(", "))),t("ul",{class:"plain"},e.labels?.map(o=>t("li",{key:o.key},t("span",{class:"mark"},"~"),"label ",
t("code",null,o.key),": ",o.before||"none"," → ",o.after||"none")),e.quotas?.map(o=>t("li",{key:o.name+o.resource,class:"bad"},t("span",{class:"mark"},"!"),"R\
esourceQuota ",o.name," allows ",o.hard," of ",o.resource,", and there would be ",o.planned)),s.map(o=>t("li",{key:o.group+o.kind+o.name},t("span",{class:"mark "+
o.action},ls[o.action]),t("span",{class:"hidden"},ln[o.action],": "),o.kind,"/",o.name,o.source&&t("span",{class:"dim"}," from ",o.source),o.difference&&t("deta\
ils",null,t("summary",null,"difference"),t(Se,{text:o.difference}))))))}function ps({plan:e,fields:n,write:s,done:a,changed:o}){let i=I(null),[l,p]=k(e),[d,m]=k(
""),[c,f]=k(!1),[u,r]=k(),b=n.change==="delete",{namespace:y,...h}=n,E=async M=>{M.preventDefault(),f(!0),r(void 0);try{await Rt(`/api/namespaces/${encodeURIComponent(
y)}/changes`,{...h,confirm:d,plan:l.digest}),a()}catch(v){r(v),f(!1),v.status===409&&o()}};return e.status.refusals?.length?null:t("section",{class:"box","aria-\
labelledby":"make"},t("div",{class:"head"},t("h2",{id:"make"},"Make the change"),t("span",{class:"grow"}),t($,{command:e.make})),s?e.writable?t("button",{class:b?
"danger":"primary",onClick:()=>{p(e),i.current.showModal()}},"Apply …"):t("p",{class:"dim"},"The page does not make this change. Run the command."):t("p",{class:"\
dim"},"The page is read-only. Run the command, or start the page with ",t("code",null,"kubectl hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:i,"aria-labe\
lledby":"confirm",onClose:()=>{m(""),r(void 0)}},t("form",{onSubmit:E},t("h2",{id:"confirm"},l.summary.replace(" would "," will ")),t("p",null,t("code",null,l.make)),
b&&t("p",null,t("label",null,"What is in it is lost. Type its name to delete it: ",t("input",{value:d,onInput:M=>m(M.target.value),"aria-label":"Name of the nam\
espace",autocomplete:"off",spellcheck:!1}))),u&&t(ne,{problem:u.problem}),t("div",{class:"tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>i.
current.close()},"Cancel"),t("button",{class:b?"danger":"primary",disabled:c||b&&d!==y},c?"Applying …":"Apply")))))}var us={connecting:"Connecting",live:"Live",lost:"Not connected"},ms=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],ds=15e3;
function fs(){let[e,n]=k(location.pathname),[,s]=k(location.search),[a,o]=k(0),[i,l]=$t(),p=T("/api/session",0),d=Wt(l);N(()=>{let f=()=>{n(location.pathname),s(
location.search)},u=setInterval(()=>document.hidden||o(b=>b+1),ds),r=b=>{b.key!=="/"||b.ctrlKey||b.metaKey||b.altKey||b.target.matches?.("input, textarea, selec\
t")||(b.preventDefault(),location.pathname!=="/"&&ee("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",f),addEventListener(
"keydown",r),()=>{clearInterval(u),removeEventListener("popstate",f),removeEventListener("keydown",r)}},[]);let m=I(e);N(()=>{let f=document.querySelector("main");
!f||e===m.current||(m.current="",f.tabIndex=-1,f.focus({preventScroll:!0}))},[e]);let c=p.data;return t(_,null,t("header",null,t(S,{to:"/",class:"brand"},t("img",
{src:"/icon.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},ms.map(([f,u])=>t(S,{key:f,to:f,"aria-current":e===
f?"page":void 0},u))),t("span",{class:"context"},c&&t(_,null,t("b",{title:"Cluster "+c.cluster},c.context||"no context"),t("span",{class:"dim"}," ",c.user))),t(
"span",{class:"grow"}),c&&t("span",{class:"wide tag"+(c.write?" warn":"")},c.write?"may write":"read-only"),t("span",{class:"state "+i,role:"status"},us[i])),p.
error?.status===401?t("main",null,t(ne,{problem:p.error.problem})):t(K.Provider,{value:d},t("div",{class:e==="/"?"":"beside"},t(gs,{key:e,path:e,version:l,tick:l+
a}),e!=="/"&&t(Gt,{name:e.startsWith("/ns/")?pn(e)[1]:""}))))}var pn=e=>e.split("/").slice(1).map(n=>{try{return decodeURIComponent(n)}catch{return n}});function gs({
path:e,version:n,tick:s}){let a=pn(e);if(e==="/")return t(an,{version:n,tick:s});if(e==="/quotas")return t(qt,{version:n});if(e==="/plan")return t(cn,{version:s});
if(e==="/admin")return t(Zt,{version:s});if(a[0]==="ns"&&a[1]){if(a.length===2)return t(Yt,{name:a[1],version:s});if(a.length===3&&a[2]==="access")return t(Jt,{
name:a[1],version:s});if(a.length===4)return t(on,{namespace:a[1],resource:a[2],name:a[3],version:s})}return t("main",null,t("h1",{class:"hidden"},"No such page"),
t(ne,{problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}At();Xe(t(fs,null),document.getElementById("app"));
