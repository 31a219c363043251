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
var xe="http://www.w3.org/2000/svg",De="http://www.w3.org/1999/xhtml",et="http://www.w3.org/1998/Math/MathML";var ee={},te=[],tt=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i;var re=Array.isArray;function D(e,n){for(let s in n)e[s]=n[s];return e}function ke(e){e&&e.parentNode&&e.parentNode.removeChild(e)}var ne=te.slice;function nt(e,n,s,a){let o,r,l;for(;n=n._parent;)if((o=n._component)&&!o._processingException)try{if(r=o.constructor,r&&r.getDerivedStateFromError!=null&&(o.setState(
r.getDerivedStateFromError(e)),l=o._dirty),o.componentDidCatch!=null&&(o.componentDidCatch(e,a||{}),l=o._dirty),l)return o._pendingError=o}catch(d){e=d}throw e}var qt={_catchError:nt},w=qt;var Jt=0;function t(e,n,s){let a={},o,r,l;for(l in n)l=="key"?o=n[l]:l=="ref"?r=n[l]:a[l]=n[l];if(arguments.length>2&&(a.children=arguments.length>3?ne.call(arguments,
2):s),typeof e=="function"&&e.defaultProps!=null)for(l in e.defaultProps)a[l]===void 0&&(a[l]=e.defaultProps[l]);return ie(e,a,o,r,null)}function ie(e,n,s,a,o){
let r={type:e,props:n,key:s,ref:a,_children:null,_parent:null,_depth:0,_dom:null,_component:null,constructor:void 0,_original:o==null?++Jt:o,_index:-1,_flags:0};
return o==null&&w.vnode!=null&&w.vnode(r),r}function h(e){return e.children}function le(e,n){this.props=e,this.context=n}le.prototype.setState=function(e,n){let s;this._nextState!=null&&this._nextState!=this.state?s=this._nextState:s=this.
_nextState=D({},this.state),typeof e=="function"&&(e=e(D({},s),this.props)),e&&D(s,e),e!=null&&this._vnode&&(n&&this._stateCallbacks.push(n),Ie(this))};le.prototype.
forceUpdate=function(e){this._vnode&&(this._force=!0,e&&this._renderCallbacks.push(e),Ie(this))};le.prototype.render=h;function B(e,n){if(n==null)return e._parent?
B(e._parent,e._index+1):null;let s;for(;n<e._children.length;n++)if(s=e._children[n],s!=null&&s._dom!=null)return s._dom;return typeof e.type=="function"?B(e):null}
function Xt(e){if(e._parentDom&&e._dirty){let n=e._vnode,s=n._dom,a=[],o=[],r=D({},n);r._original=n._original+1,w.vnode&&w.vnode(r),ce(e._parentDom,r,n,e._globalContext,
e._parentDom.namespaceURI,n._flags&32?[s]:null,a,s==null?B(n):s,!!(n._flags&32),o),r._original=n._original,r._parent._children[r._index]=r,Ee(a,r,o),n._dom=n._parent=
null,r._dom!=s&&st(r)}}function st(e){if((e=e._parent)!=null&&e._component!=null)return e._dom=e._component.base=null,e._children.some(n=>{if(n!=null&&n._dom!=null)
return e._dom=e._component.base=n._dom}),st(e)}var se=[],Oe,Zt=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout;function Ie(e){
(!e._dirty&&(e._dirty=!0)&&se.push(e)&&!we._rerenderCount++||Oe!=w.debounceRendering)&&(Oe=w.debounceRendering,(Oe||Zt)(we))}var Vt=(e,n)=>e._vnode._depth-n._vnode.
_depth;function we(){try{let e,n=1;for(;se.length;)se.length>n&&se.sort(Vt),e=se.shift(),n=se.length,Xt(e)}finally{se.length=we._rerenderCount=0}}we._rerenderCount=
0;function He(e,n,s,a,o,r,l,d,m,f,p){let c,u,i,_,y,b=a&&a._children||te,k=n.length;for(m=en(s,n,b,m,k),c=0;c<k;c++){if(i=s._children[c],i==null)continue;u=i._index!=
-1&&b[i._index]||ee,i._index=c;let R=ce(e,i,u,o,r,l,d,m,f,p);_=i._dom,i.ref&&u.ref!=i.ref&&(u.ref&&Se(u.ref,null,i),p.push(i.ref,i._component||_,i)),y==null&&_!=
null&&(y=_),i._flags&4?(m=at(i,m,e),u._dom&&(u._dom=null)):typeof i.type=="function"&&R!==void 0?m=R:_&&(m=_.nextSibling),i._flags&=-7}return s._dom=y,m}function en(e,n,s,a,o){
let r,l,d,m=s.length,f=m,p=0;for(e._children=new Array(o),r=0;r<o;r++){if(l=n[r],l==null||typeof l=="boolean"||typeof l=="function"){e._children[r]=null;continue}else
typeof l=="string"||typeof l=="number"||typeof l=="bigint"||l.constructor==String?l=e._children[r]=ie(null,l,null,null,null):re(l)?l=e._children[r]=ie(h,{children:l},
null,null,null):l.constructor===void 0&&l._depth>0?l=e._children[r]=ie(l.type,l.props,l.key,l.ref?l.ref:null,l._original):e._children[r]=l;let c=r+p;l._parent=e,
l._depth=e._depth+1;let u=l._index=tn(l,s,c,f);d=null,u!=-1&&(d=s[u],f--,d&&(d._flags|=2)),d==null||d._original==null?(u==-1&&(o>m?p--:o<m&&p++),typeof l.type!=
"function"&&(l._flags|=4)):u!=c&&(u==c-1?p--:u==c+1?p++:(u>c?p--:p++,l._flags|=4))}if(f)for(r=0;r<m;r++)d=s[r],d!=null&&(d._flags&2)==0&&(d._dom==a&&(a=B(d)),Be(
d,d));return a}function at(e,n,s){if(typeof e.type=="function"){let a=e._children;for(let o=0;a&&o<a.length;o++)a[o]&&(a[o]._parent=e,n=at(a[o],n,s));return n}else
e._dom!=n&&(n&&e.type&&!n.parentNode&&(n=B(e)),n=s.insertBefore(e._dom,n||null));do n=n&&n.nextSibling;while(n!=null&&n.nodeType==8);return n}function tn(e,n,s,a){let o=e.key,r=e.type,l=n[s],d=l!=null&&(l._flags&2)==0,m=a>(d?1:0);if(l===null&&o==null||d&&o==l.key&&r==l.type)return s;if(m){let f=s-1,p=s+
1;for(;f>=0||p<n.length;){let c=f>=0?f--:p++;if(l=n[c],l!=null&&(l._flags&2)==0&&o==l.key&&r==l.type)return c}}return-1}var lt=Math.random().toString(8),Qe="__d"+lt,Le="__a"+lt;function ot(e,n,s){n[0]=="-"?e.setProperty(n,s==null?"":s):s==null?e[n]="":typeof s!="number"||tt.test(
n)?e[n]=s:e[n]=s+"px"}var nn=/(PointerCapture)$|Capture$/i,ct=0;function fe(e,n,s,a,o){let r;e:if(n=="style")if(typeof s=="string")e.style.cssText=s;else{if(typeof a==
"string"&&(e.style.cssText=a=""),a)for(n in a)s&&n in s||ot(e.style,n,"");if(s)for(n in s)(!a||s[n]!=a[n])&&ot(e.style,n,s[n])}else if(n[0]=="o"&&n[1]=="n"){r=n!=
(n=n.replace(nn,"$1"));let l=n.toLowerCase();l in e||n=="onFocusOut"||n=="onFocusIn"?n=l.slice(2):n=n.slice(2),e._listeners||(e._listeners={}),e._listeners[n+r]=
s,s?a?s[Le]=a[Le]:(s[Le]=ct,e.addEventListener(n,r?it:rt,r)):e.removeEventListener(n,r?it:rt,r)}else{if(o==xe)n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(n!=
"width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)try{e[n]=s==null?
"":s;break e}catch{}typeof s=="function"||(s!=null&&(s!==!1||n[4]=="-")?e.setAttribute(n,n=="popover"&&s==!0?"":s):e.removeAttribute(n))}}function pt(e){return function(n){
if(this._listeners){let s=this._listeners[n.type+e];if(n[Qe]==null)n[Qe]=ct++;else if(n[Qe]<s[Le])return;return s(w.event?w.event(n):n)}}}var rt=pt(!1),it=pt(!0);function ce(e,n,s,a,o,r,l,d,m,f){let p,c=n.type;if(n.constructor!==void 0)return null;s._flags&128&&(m=!!(s._flags&32),d=n._dom=s._dom,r=[d]),(p=w._diff)&&p(n);
e:if(typeof c=="function"){let u=l.length;try{let i,_,y,b,k,R,j=n.props,U=c.prototype&&c.prototype.render;p=c.contextType;let Z=p&&a[p._id],W=p?Z?Z.props.value:
p._defaultValue:a;if(s._component?(i=n._component=s._component,R=i._processingException=i._pendingError):(U?n._component=i=new c(j,W):(n._component=i=new le(j,W),
i.constructor=c,i.render=on),Z&&Z.sub(i),i.state||(i.state={}),i._globalContext=a,_=i._dirty=!0,i._renderCallbacks=[],i._stateCallbacks=[]),U&&i._nextState==null&&
(i._nextState=i.state),U&&c.getDerivedStateFromProps!=null&&(i._nextState==i.state&&(i._nextState=D({},i._nextState)),D(i._nextState,c.getDerivedStateFromProps(
j,i._nextState))),y=i.props,b=i.state,i._vnode=n,_)U&&c.getDerivedStateFromProps==null&&i.componentWillMount!=null&&i.componentWillMount(),U&&i.componentDidMount!=
null&&i._renderCallbacks.push(i.componentDidMount);else{if(U&&c.getDerivedStateFromProps==null&&j!==y&&i.componentWillReceiveProps!=null&&i.componentWillReceiveProps(
j,W),n._original==s._original||!i._force&&i.shouldComponentUpdate!=null&&i.shouldComponentUpdate(j,i._nextState,W)===!1){n._original!=s._original&&(i.props=j,i.
state=i._nextState,i._dirty=!1),n._dom=s._dom,n._children=s._children,n._children.some(ve=>{ve&&(ve._parent=n)}),te.push.apply(i._renderCallbacks,i._stateCallbacks),
i._stateCallbacks=[],i._renderCallbacks.length&&l.push(i),d=B(s);break e}i.componentWillUpdate!=null&&i.componentWillUpdate(j,i._nextState,W),U&&i.componentDidUpdate!=
null&&i._renderCallbacks.push(()=>{i.componentDidUpdate(y,b,k)})}i.context=W,i.props=j,i._parentDom=e,i._force=!1;let V=w._render,x=0;if(U)i.state=i._nextState,
i._dirty=!1,V&&V(n),p=i.render(i.props,i.state,i.context),te.push.apply(i._renderCallbacks,i._stateCallbacks),i._stateCallbacks=[];else do i._dirty=!1,V&&V(n),p=
i.render(i.props,i.state,i.context),i.state=i._nextState;while(i._dirty&&++x<25);i.state=i._nextState,i.getChildContext!=null&&(a=D(D({},a),i.getChildContext())),
U&&!_&&i.getSnapshotBeforeUpdate!=null&&(k=i.getSnapshotBeforeUpdate(y,b));let N=p!=null&&p.type===h&&p.key==null?mt(p.props.children):p;d=He(e,re(N)?N:[N],n,s,
a,o,r,l,d,m,f),i.base=n._dom,n._flags&=-161,i._renderCallbacks.length&&l.push(i),R&&(i._pendingError=i._processingException=null)}catch(i){if(l.length=u,n._original=
null,m||r!=null){if(i.then){for(n._flags|=m?160:128;d&&d.nodeType==8&&d.nextSibling;)d=d.nextSibling;r!=null&&(r[r.indexOf(d)]=null),n._dom=d}else if(r!=null)for(let _=r.
length;_--;)ke(r[_])}else n._dom=s._dom;n._children==null&&(n._children=s._children||[]),i.then||ut(n),w._catchError(i,n,s)}}else r==null&&n._original==s._original?
(n._children=s._children,n._dom=s._dom):d=n._dom=an(s._dom,n,s,a,o,r,l,m,f);return(p=w.diffed)&&p(n),n._flags&128?void 0:d}function ut(e){e&&(e._component&&(e._component.
_force=!0),e._children&&e._children.some(ut))}function Ee(e,n,s){for(let a=0;a<s.length;a++)Se(s[a],s[++a],s[++a]);w._commit&&w._commit(n,e),e.some(a=>{try{e=a.
_renderCallbacks,a._renderCallbacks=[],e.some(o=>{o.call(a)})}catch(o){w._catchError(o,a._vnode)}})}function mt(e){return typeof e!="object"||e==null||e._depth>
0?e:re(e)?e.map(mt):e.constructor!==void 0?null:D({},e)}function an(e,n,s,a,o,r,l,d,m){let f=s.props||ee,p=n.props,c=n.type,u,i,_,y,b,k,R;if(c=="svg"?o=xe:c=="m\
ath"?o=et:o||(o=De),r!=null){for(u=0;u<r.length;u++)if(b=r[u],b&&"setAttribute"in b==!!c&&(c?b.localName==c:b.nodeType==3)){e=b,r[u]=null;break}}if(e==null){if(c==
null)return document.createTextNode(p);e=document.createElementNS(o,c,p.is&&p),d&&(w._hydrationMismatch&&w._hydrationMismatch(n,r),d=!1),r=null}if(c==null)f!==p&&
(!d||e.data!=p)&&(e.data=p);else{if(r=c=="textarea"&&p.defaultValue!=null?null:r&&ne.call(e.childNodes),!d&&r!=null)for(f={},u=0;u<e.attributes.length;u++)b=e.attributes[u],
f[b.name]=b.value;for(u in f)b=f[u],u=="dangerouslySetInnerHTML"?_=b:u!="children"&&!(u in p)&&!(u=="value"&&"defaultValue"in p)&&!(u=="checked"&&"defaultChecke\
d"in p)&&fe(e,u,null,b,o);for(u in p)b=p[u],u=="children"?y=b:u=="dangerouslySetInnerHTML"?i=b:u=="value"?k=b:u=="checked"?R=b:(!d||typeof b=="function")&&f[u]!==
b&&fe(e,u,b,f[u],o);if(i)!d&&(!_||i.__html!=_.__html&&i.__html!=e.innerHTML)&&(e.innerHTML=i.__html),n._children=[];else if(_&&(e.innerHTML=""),He(n.type=="temp\
late"?e.content:e,re(y)?y:[y],n,s,a,c=="foreignObject"?De:o,r,l,r?r[0]:s._children&&B(s,0),d,m),r!=null)for(u=r.length;u--;)ke(r[u]);(!d||c=="textarea")&&(u="va\
lue",c=="progress"&&k==null?e.removeAttribute("value"):k!=void 0&&(k!==e[u]||c=="progress"&&!k||c=="option"&&k!=f[u])&&fe(e,u,k,f[u],o),u="checked",R!=void 0&&R!=
e[u]&&fe(e,u,R,f[u],o))}return e}function Se(e,n,s){try{if(typeof e=="function"){let a=typeof e._unmount=="function";a&&e._unmount(),(!a||n!=null)&&(e._unmount=
e(n))}else e.current=n}catch(a){w._catchError(a,s)}}function Be(e,n,s){let a;if(w.unmount&&w.unmount(e),(a=e.ref)&&(!a.current||a.current==e._dom)&&Se(a,null,n),
(a=e._component)!=null){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(o){w._catchError(o,n)}a.base=a._parentDom=a._globalContext=null}if(a=e._children)
for(let o=0;o<a.length;o++)a[o]&&Be(a[o],n,s||typeof e.type!="function");s||ke(e._dom),e._component=e._parent=e._dom=void 0}function on(e,n,s){return this.constructor(
e,s)}function Ke(e,n,s){n==document&&(n=document.documentElement),w._root&&w._root(e,n);let a=typeof s=="function",o=a?null:s&&s._children||n._children;e=(!a&&s||n).
_children=t(h,null,[e]);let r=[],l=[];ce(n,e,o||ee,ee,n.namespaceURI,!a&&s?[s]:o?null:n.firstChild?ne.call(n.childNodes):null,r,!a&&s?s:o?o._dom:n.firstChild,a,
l),Ee(r,e,l),e.props.children=null}var ge,L,We,Te=0,vt=[],T=w,dt=T._diff,ft=T._render,gt=T.diffed,bt=T._commit,_t=T.unmount,yt=T._root,rn=35,Ge;T._diff=e=>{L=null,dt&&dt(e)};T._root=(e,n)=>{e&&n.
_children&&n._children._mask&&(e._mask=n._children._mask),yt&&yt(e,n)};T._render=e=>{ft&&ft(e),L=e._component,ge=0;let n=L.__hooks;n&&(We===L?(n._pendingEffects=
[],L._renderCallbacks=[],n._list.some(s=>{s._nextValue&&(s._value=s._nextValue),s._pendingArgs=s._nextValue=void 0})):(n._pendingEffects.some(Me),n._pendingEffects.
some(Ye),n._pendingEffects=[],ge=0)),We=L};T.diffed=e=>{gt&&gt(e);let n=e._component;n&&n.__hooks&&(n.__hooks._pendingEffects.length&&un(vt.push(n)),n.__hooks._list.
some(s=>{s._pendingArgs&&(s._args=s._pendingArgs,s._pendingArgs=void 0)})),We=L=null};T._commit=(e,n)=>{n.some(s=>{try{s._renderCallbacks.some(Me),s._renderCallbacks=
s._renderCallbacks.filter(a=>a._value?Ye(a):!0)}catch(a){n.some(o=>{o._renderCallbacks&&(o._renderCallbacks=[])}),n=[],T._catchError(a,s._vnode)}}),bt&&bt(e,n)};
T.unmount=e=>{_t&&_t(e);let n=e._component;if(n&&n.__hooks){let s;n.__hooks._list.some(a=>{try{Me(a)}catch(o){s=o}}),n.__hooks=void 0,s&&T._catchError(s,n._vnode)}};
function ze(e,n){T._hook&&T._hook(L,e,Te||n),Te=0;let s=L.__hooks||(L.__hooks={_list:[],_pendingEffects:[]});return e>=s._list.length&&s._list.push({}),s._list[e]}
function v(e){return Te=1,ln(kt,e)}function ln(e,n,s){let a=ze(ge++,2);if(a._reducer=e,!a._component&&(a._value=[s?s(n):kt(void 0,n),o=>{let r=a._nextValue?a._nextValue[0]:
a._value[0],l=a._reducer(r,o);r!==l&&(a._nextValue=[l,a._value[1]],a._component.setState({}))}],a._component=L,!L._hasScuFromHooks)){let l=function(d,m,f){if(!a.
_component.__hooks)return!0;let p=!1,c=a._component.props!==d;if(a._component.__hooks._list.some(u=>{if(u._nextValue){p=!0;let i=u._value[0];u._value=u._nextValue,
u._nextValue=void 0,i!==u._value[0]&&(c=!0)}}),o){let u=o.call(this,d,m,f);return p?u||c:u}return!p||c};L._hasScuFromHooks=!0;let o=L.shouldComponentUpdate,r=L.
componentWillUpdate;L.componentWillUpdate=function(d,m,f){if(this._force){let p=o;o=void 0,l(d,m,f),o=p}r&&r.call(this,d,m,f)},L.shouldComponentUpdate=l}return a.
_nextValue||a._value}function F(e,n){let s=ze(ge++,3);!T._skipEffects&&xt(s._args,n)&&(s._value=e,s._pendingArgs=n,L.__hooks._pendingEffects.push(s))}function z(e){return Te=5,Q(()=>({current:e}),[])}function Q(e,n){let s=ze(ge++,7);return xt(s._args,n)&&(s._value=e(),s._args=n,s._factory=e),s._value}function cn(){let e;for(;e=vt.shift();){let n=e.__hooks;if(!(!e._parentDom||!n))try{n._pendingEffects.some(Me),n._pendingEffects.some(Ye),n._pendingEffects=[]}catch(s){
n._pendingEffects=[],T._catchError(s,e._vnode)}}}var ht=typeof requestAnimationFrame=="function";function pn(e){let n=()=>{clearTimeout(s),ht&&cancelAnimationFrame(
a),setTimeout(e)},s=setTimeout(n,rn),a;ht&&(a=requestAnimationFrame(n))}function un(e){(e===1||Ge!==T.requestAnimationFrame)&&(Ge=T.requestAnimationFrame,(Ge||pn)(
cn))}function Me(e){let n=L,s=e._cleanup;typeof s=="function"&&(e._cleanup=void 0,s()),L=n}function Ye(e){let n=L;e._cleanup=e._value(),L=n}function xt(e,n){return!e||
e.length!==n.length||n.some((s,a)=>s!==e[a])}function kt(e,n){return typeof n=="function"?n(e):n}var wt="hns-token";function Et(){let e=new URLSearchParams(location.hash.slice(1)).get("token");e&&(sessionStorage.setItem(wt,e),history.replaceState(null,"",location.
pathname+location.search))}var ae=class extends Error{constructor(s,a){super(a.title);this.status=s;this.problem=a}status;problem},mn={title:"The command has en\
ded",detail:"kubectl hns ui does not answer any more.",hint:"Run it again, and open the URL that it prints."};async function qe(e,n,s){let a;try{a=await fetch(e,
{signal:n,credentials:"omit",cache:"no-store",headers:{"X-HNS-Token":sessionStorage.getItem(wt)??"",...s?{"Content-Type":"application/json"}:{}},...s?{method:"P\
OST",body:JSON.stringify(s)}:{}})}catch(r){throw n?.aborted?r:new ae(0,mn)}if(a.ok)return a;let o={title:`The server answers ${a.status}`};try{o=await a.json()}catch{}
throw new ae(a.status,o)}async function Ct(e,n){await qe(e,void 0,n)}function C(e,n,s=!1){let[a,o]=v({path:e}),r=z(0),[l,d]=v(0);return F(()=>{if(s)return;let m=new AbortController,
f=0;return qe(e,m.signal).then(p=>p.json()).then(p=>{r.current=0,o({path:e,data:p,at:new Date})},p=>{if(m.signal.aborted)return;let c=p instanceof ae?p:new ae(0,
{title:"The answer cannot be read",detail:String(p)});o(u=>u.path===e&&c.status!==404&&c.status!==403?{...u,error:c}:{path:e,error:c}),(c.status===0||c.status>=
500)&&(f=window.setTimeout(()=>d(u=>u+1),Math.min(30,2**++r.current)*1e3))}),()=>{m.abort(),clearTimeout(f)}},[e,n,l,s]),a.path===e?a:{}}function St(){let[e,n]=v(
"connecting"),[s,a]=v(0);return F(()=>{let o,r=0,l=0,d=!1,m=()=>{d||document.hidden||(r=window.setTimeout(f,Math.min(15,2**l++)*1e3))},f=async()=>{clearTimeout(
r);let c=o=new AbortController,u=0,i=()=>{clearTimeout(u),u=window.setTimeout(()=>c.abort(),25e3)};try{i();let _=(await qe("/api/changes",c.signal)).body.pipeThrough(
new TextDecoderStream).getReader();for(let y=await _.read();!y.done;y=await _.read())i(),l=0,n("live"),y.value.includes("changed")&&a(b=>b+1)}catch(_){_ instanceof
ae&&_.status===401&&(d=!0)}clearTimeout(u),!(o!==c||d)&&(document.hidden||n("lost"),m())},p=()=>{clearTimeout(r),o?.abort(),o=void 0,document.hidden||(l=0,a(c=>c+
1),f())};return document.addEventListener("visibilitychange",p),document.hidden||f(),()=>{d=!0,clearTimeout(r),o?.abort(),document.removeEventListener("visibili\
tychange",p)}},[]),[e,s]}function Pt(e){let n=new Map;for(let r of e)n.set(r.name,{member:r,children:[],problems:0,descendants:0,parentMissing:!1});let s=[];for(let r of n.values()){let l=r.
member.parent?n.get(r.member.parent):void 0;r.parentMissing=!!r.member.parent&&!l,l?l.children.push(r):s.push(r)}let a=new Set,o=r=>{let l=[r];a.add(r);for(let d=0;d<
l.length;d++){l[d].children=l[d].children.filter(m=>!a.has(m));for(let m of l[d].children)a.add(m),l.push(m)}for(let d=l.length-1;d>=0;d--){let m=l[d];m.problems=
m.member.problems?.length??0;for(let f of m.children)m.problems+=f.problems,m.descendants+=f.descendants+1;Lt(m.children)}};s.forEach(o);for(let r of n.values())
a.has(r)||(s.push(r),o(r));return Lt(s)}function Lt(e){return e.sort((n,s)=>+(s.problems>0)-+(n.problems>0)||(n.member.name<s.member.name?-1:1))}function dn(e,n){
if(n.problems&&!e.problems?.length||n.mine&&!n.mine.has(e.name))return!1;let s=n.text.trim().toLowerCase(),a=s.indexOf("=");return a>0?e.labels?.[n.text.trim().
slice(0,a)]?.toLowerCase()===s.slice(a+1):e.name.includes(s)}function pe(e){return e.problems||!!e.mine||e.text.trim()!==""}function Ae(e,n,s){let a=pe(n),o=new Set;
if(a){let f=[];for(let p of e)f.push({node:p,above:[]});for(let p=f.pop();p;p=f.pop()){if(dn(p.node.member,n)){o.add(p.node);for(let u of p.above)o.add(u)}let c=p.
node.children.length?[...p.above,p.node]:p.above;for(let u of p.node.children)f.push({node:u,above:c})}}let r=f=>a?f.filter(p=>o.has(p)):f,l=[],d=[],m=(f,p,c)=>{
for(let u=f.length-1;u>=0;u--)d.push({node:f[u],depth:p,parent:c,expanded:!1,position:u+1,siblings:f.length})};m(r(e),0,-1);for(let f=d.pop();f;f=d.pop()){let p=r(
f.node.children);f.expanded=p.length>0&&(a||s(f.node)),l.push(f),f.expanded&&m(p,f.depth+1,l.length-1)}return l}function Y(e){let n=e.replace(/([a-z])([A-Z])/g,
"$1 $2").toLowerCase();return n.charAt(0).toUpperCase()+n.slice(1)}function be(e,n=Date.now()){if(!e)return"";let s=Math.max(0,Math.floor((n-Date.parse(e))/1e3));
return s<120?s+"s":s<3*3600?Math.floor(s/60)+"m":s<48*3600?Math.floor(s/3600)+"h":s<2*365*86400?Math.floor(s/86400)+"d":Math.floor(s/(365*86400))+"y"}function S(e,n,s=n+
"s"){return`${e.toLocaleString("en")} ${e===1?n:s}`}var Tt=e=>Math.round(e*100)+"%";function fn(e){let n=["Ki","Mi","Gi","Ti","Pi","Ei"].indexOf(e),s=["k","M","\
G","T","P","E"].indexOf(e);return n>=0?1024**(n+1):s>=0?1e3**(s+1):e==="m"?.001:1}function _e(e,n){let s=/[a-zA-Z]*$/.exec(n)[0];return+(e/fn(s)).toFixed(3)+s}function Mt(e,n,s){
let a={name:e.namespace,own:0,sum:0,children:[]},o=new Map([[a.name,a]]);for(let{namespace:l,used:d}of e.namespaces){if(!d[n])continue;let m=o.get(l),f=[];for(let i=l;i&&
!o.has(i)&&!f.includes(i);i=s.get(i))f.push(i);let p=f.length&&s.get(f[f.length-1]),c=p&&o.get(p)||a,u=p&&o.has(p)?f:f.slice(0,1);for(let i of u.reverse())m={name:i,
own:0,sum:0,children:[]},c.children.push(m),o.set(i,m),c=m;m.own=d[n]}let r=l=>(l.sum=l.own+l.children.reduce((d,m)=>d+r(m),0),l.children.sort((d,m)=>m.sum-d.sum||
(d.name<m.name?-1:1)),l.sum);return r(a),a}function At(e){let n=s=>'"'+(/^[=+\-@\t\r]/.test(s)?"'":"")+s.replace(/"/g,'""')+'"';return e.map(s=>s.map(n).join(",")+
`\r
`).join("")}function Re(e){return e.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g,
n=>`⟨U+${n.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}⟩`)}function Rt(e){let n=new Map;for(let s of e)for(let a of s.access??[]){let o=`${a.kind}\
 ${a.namespace?a.namespace+"/":""}${a.name} ${a.change==="Gained"?"gains":"loses"} ${a.roleKind}/${a.role}`;n.has(o)||n.set(o,{change:a.change,text:o,namespaces:[]}),
n.get(o).namespaces.push(s.name)}return[...n.values()]}var $e=500;function $t(e){let r=[],l=e.map(({node:c,expanded:u})=>c.member.name+(!u&&c.descendants?`  +${c.
descendants}`:""));e.forEach((c,u)=>{r[c.depth]=Math.max(r[c.depth]??0,l[u].length*7.6+46)});let d=[];r.reduce((c,u,i)=>(d[i]=c,c+u),16);let m=e.map((c,u)=>({node:c.
node,name:c.node.member.name,label:l[u],x:d[c.depth],y:0,end:d[c.depth]+13+l[u].length*7.6,title:[c.node.member.name,...(c.node.member.problems??[]).map(i=>`${Y(
i.reason)}: ${i.message}`)].join(`
`)})),f=e.map(()=>[]);e.forEach((c,u)=>{c.parent>=0&&(f[c.parent].push(u),m[u].parent=m[c.parent])});let p=0;e.forEach((c,u)=>{f[u].length||(m[u].y=16+(p+++.5)*
24)});for(let c=e.length-1;c>=0;c--){let u=f[c];u.length&&(m[c].y=(m[u[0]].y+m[u[u.length-1]].y)/2)}return{nodes:m,width:Math.ceil((d[d.length-1]??16)+(r[r.length-
1]??0)),height:Math.ceil(32+p*24)}}function q(e){history.pushState(null,"",e),dispatchEvent(new PopStateEvent("popstate")),scrollTo(0,0)}function E({to:e,children:n,...s}){return t("a",{href:e,onClick:o=>{
o.button||o.ctrlKey||o.metaKey||o.shiftKey||o.altKey||(o.preventDefault(),q(e))},...s},n)}var gn=w.vnode;w.vnode=e=>{e.type===null&&typeof e.props=="string"?e.props=
Re(e.props):typeof e.type=="string"&&e.props.title&&(e.props.title=Re(e.props.title)),gn?.(e)};function $(e){F(()=>{document.title=Re(e)+" · hns"},[e])}function J(){
let e=n=>{let s=new URLSearchParams(n).toString();history.replaceState(null,"",location.pathname+(s&&"?"+s)),dispatchEvent(new PopStateEvent("popstate"))};return[
new URLSearchParams(location.search),e]}function ye(e,n,s){let a=document.createElement("a");a.href=URL.createObjectURL(new Blob([s],{type:n})),a.download=e,a.click(),
setTimeout(()=>URL.revokeObjectURL(a.href),1e4)}function I({list:e}){return t(h,null,e?.map(n=>t("p",{class:"stale",key:n},n.charAt(0).toUpperCase()+n.slice(1))))}
var P=e=>"/ns/"+e,H=(e,n,s)=>`/ns/${e}/${n}/${encodeURIComponent(s)}`;function Ut({text:e,title:n}){let[s,a]=v(!1);return t("button",{onClick:()=>navigator.clipboard.
writeText(e).then(()=>{a(!0),setTimeout(()=>a(!1),1500)})},t("span",{"aria-live":"polite"},s?"Copied":n))}function M({command:e}){let[n,s]=v(!1);return t("butto\
n",{class:"copy",onClick:()=>navigator.clipboard.writeText(e).then(()=>{s(!0),setTimeout(()=>s(!1),1500)}),title:"Copy the command that shows the same"},t("code",
null,e),t("span",{"aria-live":"polite"},n?"Copied":"Copy"))}function X({problem:e}){return t("section",{class:"box bad",role:"alert"},t("h2",null,e.title),e.missingPermission&&
t("p",null,"Missing permission: ",t("code",null,e.missingPermission)),e.detail&&t("p",{class:"message"},e.detail),e.hint&&t("p",null,e.hint))}function A({from:e,
children:n}){let[s,a]=v(!1);return F(()=>{let o=setTimeout(()=>a(!0),200);return()=>clearTimeout(o)},[]),e.data?t(h,null,e.error&&t("p",{class:"stale",role:"sta\
tus"},t("b",null,e.error.problem.title,".")," This is the state of ",e.at.toLocaleTimeString(),". ",e.error.problem.hint),n(e.data)):e.error?t(X,{problem:e.error.
problem}):t("p",{class:"dim",role:"status"},s?"Reading from the cluster …":"")}function he({text:e}){return t("pre",{class:"diff"},e.split(`
`).filter((n,s,a)=>n||s<a.length-1).map((n,s)=>t("span",{key:s,class:/^(\+\+\+|---|@@)/.test(n)?"meta":n[0]==="+"?"plus":n[0]==="-"?"minus":""},n+`
`)))}function ue({list:e}){return t("ul",{class:"conditions"},e.map(n=>t("li",{key:n.type+n.reason},t("span",{class:"tag bad"},n.status==="False"&&"Not ",n.status===
"False"?Y(n.type).toLowerCase():Y(n.type))," ",t("b",null,Y(n.reason))," ",t("span",{class:"message"},n.message))))}function Ft({name:e,version:n}){let s=C("/api/namespaces/"+e,n);return $(e),t("main",null,!s.data&&t(Ue,{name:e,page:""}),t(A,{from:s},a=>t(_n,{ns:a,version:n})))}
var bn=[["","Overview"],["access","Access"]],Nt=new Map;function Ue({name:e,page:n,path:s,abstract:a,children:o}){return s&&Nt.set(e,s),s=Nt.get(e)??[e],t(h,null,
t(Je,{names:s,abstract:a}),t("div",{class:"head"},t("h1",null,e),o),t("nav",{class:"tabs","aria-label":"Pages of "+e},bn.map(([r,l])=>t(E,{key:r,to:P(e)+(r&&"/"+
r),"aria-current":r===n?"page":void 0},l)),t(E,{to:"/plan?namespace="+e},"Plan a change"),t(E,{to:H(e,"hierarchies.hnc.x-k8s.io","hierarchy")},"Hierarchy as YAM\
L")))}function Je({names:e,abstract:n=[]}){return t("nav",{"aria-label":"Path to the root",class:"path"},t("ol",null,t("li",null,t(E,{to:"/"},"Forest")),[...n].
reverse().map(s=>t("li",{key:"a "+s,class:"dim",title:"An abstract ancestor: no namespace of the cluster"},s)),e.map((s,a)=>t("li",{key:s},a===e.length-1?t("b",
{"aria-current":"page"},s):t(E,{to:P(s)},s)))))}function _n({ns:e,version:n}){let s=[e.kind==="full"?"full namespace":e.kind,e.path.length>1?`level ${e.path.length}`:
"root",e.created&&`${be(e.created)} old`,e.allowsCascadingDeletion?`sub-namespaces are deleted with it${e.cascadingDeletionSetFrom&&e.cascadingDeletionSetFrom!==
e.name?`, as set in ${e.cascadingDeletionSetFrom}`:""}`:""].filter(Boolean);return t(h,null,t(Ue,{name:e.name,page:"",path:e.path,abstract:e.abstractAncestors},
t("p",{class:"summary"},e.deleting&&t(h,null,t("b",{class:"bad"},"being deleted")," · "),s.join(" · ")),t(M,{command:"kubectl hns describe "+e.name})),e.excluded&&
t("p",{class:"stale"},"The namespace is ",e.excluded,". Nothing is copied to it or from it."),t(I,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box \
bad"},t("h2",null,S(e.problems.length,"problem")),t(ue,{list:e.problems})),t("div",{class:"columns"},t("section",{"aria-labelledby":"policy"},t("h2",{id:"policy"},
"Policy"),e.resources.map(a=>t(yn,{key:a,namespace:e.name,resource:a,version:n}))),t("div",null,t(hn,{ns:e}),t(vn,{ns:e}),t(xn,{namespace:e.name,version:n}))))}
function yn({namespace:e,resource:n,version:s}){let a=C(`/api/namespaces/${e}/objects/${n}`,s),[o,...r]=n.split("."),l=a.data?.items??[],d=l.filter(m=>m.state!==
"Absent").length;return t("section",{class:"kind","aria-label":n},t("h3",null,t("span",null,o),r.length>0&&t("small",{class:"dim"},r.join(".")),t("span",{class:"\
grow"}),a.data&&t("small",{class:"dim"},d?S(d,"object"):"none"),a.data?.mode&&t("span",{class:"tag"},a.data.mode)),a.error&&!a.data&&t("p",{class:"note"},a.error.
problem.missingPermission?t(h,null,"Missing permission: ",t("code",null,a.error.problem.missingPermission)):a.error.problem.detail),a.data?.notes?.map(m=>t("p",
{class:"note",key:m},m)),l.length>0&&t("table",null,t("thead",{class:"hidden"},t("tr",null,t("th",null,"Name"),t("th",null,"Where it comes from"))),t("tbody",null,
l.map(m=>t("tr",{key:m.name,class:m.state},t("td",null,t(E,{to:H(e,n,m.name)},m.name)),t("td",null,m.state==="Copy"?t(h,null,"copied from ",t(E,{to:P(m.source)},
m.source)):m.state==="Local"?t(h,null,"made here ",m.override&&t("span",{class:"tag"},"override")):t(h,null,t("span",{class:"tag"},"not here")," is in ",t(E,{to:P(
m.source)},m.source)," · ",t(E,{to:H(e,n,m.name)},"why not here?"))))))))}function hn({ns:e}){return t("section",{class:"box","aria-labelledby":"children"},t("\
h2",{id:"children"},"Children ",t("small",{class:"dim"},e.children.length||"")),e.children.length?t("ul",{class:"plain"},e.children.map(n=>t("li",{key:n.name},t(
E,{to:P(n.name)},n.name)," ",t("span",{class:"dim"},n.subnamespace?"sub-namespace":""),n.state&&n.state!=="Ok"&&t("span",{class:"tag bad"},n.state)))):t("p",{class:"\
dim"},"None."))}function vn({ns:e}){let n=e.labelsFrom.filter(o=>!o.tree),s=e.labelsFrom.filter(o=>o.tree),a=o=>t("li",{key:o.key},t("code",null,o.key,"=",o.value),
o.from&&t("span",{class:"dim"}," set by the hierarchy ",o.from===e.name?"here":t(h,null,"in ",t(E,{to:P(o.from)},o.from))));return t("section",{class:"box","ari\
a-labelledby":"labels"},t("h2",{id:"labels"},"Labels"),n.length?t("ul",{class:"plain"},n.map(a)):t("p",{class:"dim"},"None of its own."),s.length>0&&t("details",
null,t("summary",null,s.length," set by its place in the tree"),t("ul",{class:"plain"},s.map(a))))}function xn({namespace:e,version:n}){let s=C(`/api/namespaces\
/${e}/events`,n),[a,o]=v(!1),r=s.data??[],l=a?r:r.slice(0,8),d=s.error?.problem.missingPermission;return t("section",{class:"box","aria-labelledby":"events"},t(
"h2",{id:"events"},"Events ",t("small",{class:"dim"},r.length||"")),l.length>0&&t("ul",{class:"plain events"},l.map((m,f)=>t("li",{key:f},t("span",{class:"tag "+
(m.warning?"bad":"")},m.reason)," ",t("b",null,m.kind,"/",m.name)," ",t("span",{class:"dim"},be(m.last),m.count>1&&` ×${m.count}`),t("br",null),t("span",{class:"\
message"},m.message)))),r.length>l.length&&t("button",{onClick:()=>o(!0)},"Show ",r.length-l.length," more"),s.data&&!r.length&&t("p",{class:"dim"},"None."),s.error&&
!s.data&&t("p",{class:"note"},d?t(h,null,"Missing permission: ",t("code",null,d)):s.error.problem.detail))}var kn=["get","list","watch","create","update","patch","delete","deletecollection","bind","escalate","impersonate"],wn=["pods","pods/log","pods/exec","deploymen\
ts","services","configmaps","secrets","roles","rolebindings","serviceaccounts","networkpolicies","resourcequotas","hierarchies","subnamespaces","hierarchicalres\
ourcequotas"];function jt({name:e,version:n}){let[s,a]=J(),o=s.get("verb")??"",r=s.get("resource")??"",l=o!==""&&r!=="",d=C(`/api/namespaces/${e}/access`+(l?"?"+
new URLSearchParams({verb:o,resource:r}):""),n);return $(`Access to ${e}`),t("main",null,t(Ue,{name:e,page:"access"}),t("form",{class:"tools ask",onSubmit:f=>{f.
preventDefault();let p=new FormData(f.target);a({verb:String(p.get("verb")).trim(),resource:String(p.get("resource")).trim()})},key:o+" "+r,"data-page":"access"},
t("label",null,"Who can ",t("input",{name:"verb",list:"verbs",value:o,placeholder:"delete",required:!0,size:10,autocomplete:"off",spellcheck:!1,"aria-label":"Ve\
rb"})),t("input",{name:"resource",list:"resources",value:r,placeholder:"pods",required:!0,size:18,autocomplete:"off",spellcheck:!1,"aria-label":"Resource"}),t("\
label",null,"in ",e,"?"),t("datalist",{id:"verbs"},kn.map(f=>t("option",{key:f,value:f}))),t("datalist",{id:"resources"},wn.map(f=>t("option",{key:f,value:f}))),
t("button",{class:"primary"},"Show"),l&&t("button",{type:"button",onClick:()=>a({})},"Show all grants"),t("span",{class:"grow"}),t(M,{command:`kubectl hns who ${e}`+
(l?` ${o} ${r}`:"")})),t(A,{from:d},f=>t(En,{name:e,access:f,permission:l?`${o} ${r}`:""})))}var Ne=e=>e.subject.namespace?`${e.subject.namespace}/${e.subject.name}`:
e.subject.name;function En({name:e,access:n,permission:s}){let[a,o]=v(""),r=n.grants??[],l=r.filter(i=>(Ne(i)+" "+i.role).toLowerCase().includes(a.trim().toLowerCase())),
d=l.filter(i=>!i.unknown),m=d.filter(i=>i.at),f=d.filter(i=>!i.at),p=l.filter(i=>i.unknown),c=new Set(r.filter(i=>!i.unknown).map(i=>i.subject.kind+" "+Ne(i))).
size,u=()=>ye(`access-${e}.csv`,"text/csv",At([["kind","subject","role","binding","set in","only","known"],...l.map(i=>[i.subject.kind,Ne(i),i.role,i.binding,i.
at??"(cluster)",(i.names??[]).join(" "),i.unknown?"no":"yes"])]));return t("div",null,t("div",{class:"tools"},t("b",{role:"status"},s?`${S(c,"subject")} can ${s}\
 in ${e}`:`${S(c,"subject")} with roles in ${e}`),t("span",{class:"grow"}),t("input",{type:"search",placeholder:"Subject or role","aria-label":"Filter by subjec\
t or role",value:a,onInput:i=>o(i.target.value)}),t("button",{onClick:u,disabled:!l.length},"CSV")),t(I,{list:n.notes}),t(Xe,{title:"By bindings in the namespac\
e and its ancestors",name:e,grants:m,open:!0,empty:s?`No binding in ${e} or above grants it.`:"There are none."}),t(Xe,{title:"In the whole cluster",name:e,grants:f,
open:m.length===0&&s!==""}),t(Xe,{title:"By ClusterRoles whose rules you may not read: they may grant it",name:e,grants:p,open:!0}),t("p",{class:"dim"},"As RBAC\
 grants it. Members of the group system:masters may do everything."))}function Xe({title:e,name:n,grants:s,open:a,empty:o}){return!s.length&&!o?null:t("details",
{class:"box fold",open:a},t("summary",null,t("h2",null,e," ",t("small",{class:"dim"},s.length))),s.length?t("table",{class:"list"},t("thead",null,t("tr",null,t(
"th",null,"Subject"),t("th",null,"Role"),t("th",null,"Binding"),t("th",null,"Set in"))),t("tbody",null,s.map((r,l)=>t("tr",{key:l},t("td",null,t("span",{class:"\
dim"},r.subject.kind)," ",t("b",null,Ne(r))),t("td",{"data-label":"Role"},r.role,r.names&&t("span",{class:"dim"}," only ",r.names.join(", "))),t("td",{"data-lab\
el":"Binding"},r.binding.startsWith("RoleBinding/")?t(E,{to:H(n,"rolebindings.rbac.authorization.k8s.io",r.binding.slice(12))},r.binding):r.binding),t("td",{"da\
ta-label":"Set in"},r.at?r.at===n?"here":t(E,{to:P(r.at)},r.at):"the cluster"))))):t("p",{class:"dim"},o))}var Cn={Propagate:"copied to all descendants",AllowPropagate:"copied where an annotation asks for it",Remove:"not copied; copies are removed",Ignore:"not copied\
; copies stay as they are"};function Ot({version:e}){let n=C("/api/administration",e),[s,a]=v(0),o=C("/api/checks",s);return $("Kinds and servers"),t("main",null,
t("div",{class:"head"},t("h1",null,"Kinds and servers")),t(A,{from:n},r=>t(Sn,{a:r})),t("section",{class:"box","aria-labelledby":"checks"},t("div",{class:"head"},
t("h2",{id:"checks"},"Installation"),t("span",{class:"grow"}),t("button",{onClick:()=>a(r=>r+1)},"Check again"),t(M,{command:"kubectl hns doctor"})),t(A,{from:o},
r=>t(Ln,{list:r}))))}function Sn({a:e}){return t(h,null,t(I,{list:e.notes}),!!e.problems?.length&&t("section",{class:"box bad"},t("h2",null,S(e.problems.length,
"problem")),t(ue,{list:e.problems})),t("section",{class:"box","aria-labelledby":"kinds"},t("div",{class:"head"},t("h2",{id:"kinds"},"Kinds"),t("span",{class:"gr\
ow"}),t(M,{command:"kubectl hns config describe"})),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Kind"),t("th",null,"Mode"),t("th",{class:"n\
um"},"Sources"),t("th",{class:"num"},"Copies"))),t("tbody",null,e.kinds.map(n=>t("tr",{key:n.group+n.resource},t("td",null,n.resource," ",t("span",{class:"dim"},
n.group?`${n.group}/${n.version}`:n.version)),t("td",null,n.mode," ",t("span",{class:"dim"},Cn[n.mode??""]??"")),t("td",{class:"num","data-label":"Sources"},n.numSourceObjects??
""),t("td",{class:"num","data-label":"Copies"},n.numPropagatedObjects??""))))),!e.kinds.length&&t("p",{class:"dim"},"hnc-propagator has not reported any yet."),
e.rules&&Object.keys(e.rules).length>0&&t("details",null,t("summary",null,"Rules in force"),t("dl",{class:"rules"},Object.entries(e.rules).map(([n,s])=>t(h,null,
t("dt",{key:n},n),t("dd",null,Array.isArray(s)?s.join(", "):typeof s=="object"?JSON.stringify(s):String(s))))))),e.repositories.length>0&&t("section",{class:"bo\
x","aria-labelledby":"repositories"},t("div",{class:"head"},t("h2",{id:"repositories"},"Repositories"),t("span",{class:"grow"}),t(M,{command:"kubectl hns repo s\
tatus"})),e.repositories.map(n=>t("div",{key:n.name,class:"repository"},t("b",null,n.name)," ",t("span",{class:"tag "+(n.synced==="True"?"":"bad")},n.synced==="\
True"?"synced":n.reason)," ",t("span",{class:"dim"},S(n.objects,"object"),n.applied&&t(h,null," · applied ",t("code",{title:n.applied},n.applied.slice(0,12))),
n.seen&&n.seen!==n.applied&&t(h,null," · read ",t("code",{title:n.seen},n.seen.slice(0,12)))),n.synced!=="True"&&t("p",{class:"message"},n.message),n.errors&&t(
"ul",null,n.errors.map(s=>t("li",{key:s,class:"message"},s)))))))}var Dt=["error","warning","unknown","ok"];function Ln({list:e}){let n=[...e].sort((r,l)=>Dt.indexOf(
r.severity)-Dt.indexOf(l.severity)),s=n.filter(r=>r.severity!=="ok"),a=n.filter(r=>r.severity==="ok"),o=r=>t("ul",{class:"plain checks"},r.map((l,d)=>t("li",{key:d,
class:l.severity},t("span",{class:"tag "+(l.severity==="ok"?"":l.severity==="unknown"?"warn":"bad")},l.severity),t("span",null,t("b",null,l.subject)," ",l.text,
l.hint&&t("p",{class:"hint"},l.hint)))));return t(h,null,s.length?o(s):t("p",{class:"good"},"All ",a.length," checks are well."),a.length>0&&t("details",null,t(
"summary",null,S(a.length,"check")," without findings"),o(a)))}var K={text:"#1b2330",line:"#c3cad4",node:"#2251b8",bad:"#a8231b",back:"#ffffff"};function It({roots:e,filter:n,isExpanded:s}){let a=z(null),[o,r]=v(""),l=Ae(e,
n,s),{nodes:d,width:m,height:f}=Q(()=>$t(l.slice(0,$e)),[l.length,e,n]),p=()=>new XMLSerializer().serializeToString(a.current),c=()=>ye("forest.svg","image/svg+\
xml",p()),u=async()=>{try{let i=new Image;i.src="data:image/svg+xml;charset=utf-8,"+encodeURIComponent(p()),await i.decode();let _=Math.min(2,16e3/Math.max(m,f)),
y=document.createElement("canvas");y.width=m*_,y.height=f*_,y.getContext("2d").drawImage(i,0,0,y.width,y.height),y.toBlob(b=>b?ye("forest.png","image/png",b):r(
"The drawing is too large for a PNG. Save it as SVG."))}catch{r("The browser cannot make a PNG of the drawing. Save it as SVG.")}};return t("section",{class:"bo\
x drawing","aria-label":"Drawing of the forest"},t("div",{class:"tools"},t("span",{class:"dim",role:"status"},o||(l.length>$e?`The first ${S($e,"namespace")} of\
 ${l.length}: collapse trees in the table, or filter`:S(l.length,"namespace"))),t("span",{class:"grow"}),t("button",{onClick:c},"Save SVG"),t("button",{onClick:u},
"Save PNG")),t("div",{class:"canvas",tabIndex:0,role:"group","aria-label":"Drawing, scrollable"},t("svg",{ref:a,xmlns:"http://www.w3.org/2000/svg",width:m,height:f,
viewBox:`0 0 ${m} ${f}`,role:"img","aria-label":`${S(d.length,"namespace")} as trees`,"font-family":"system-ui, sans-serif","font-size":"13"},t("rect",{width:m,
height:f,fill:K.back,class:"back"}),d.map(i=>i.parent&&t("path",{key:"to "+i.name,d:`M${i.parent.end} ${i.parent.y}H${i.x-38}C${i.x-20} ${i.parent.y} ${i.x-26} ${i.
y} ${i.x-8} ${i.y}`,fill:"none",stroke:K.line,class:"edge"})),d.map(i=>t("g",{key:i.name,class:i.node.member.problems?.length?"bad":"",onClick:()=>q(P(i.name)),
"data-namespace":i.name},t("title",null,i.title),t("circle",{cx:i.x,cy:i.y,r:5,fill:i.node.member.problems?.length?K.bad:i.node.member.kind==="full"?K.node:K.back,
stroke:i.node.member.problems?.length?K.bad:K.node,"stroke-width":"2"}),t("text",{x:i.x+11,y:i.y+4.5,fill:i.node.member.problems?.length?K.bad:K.text,"font-weig\
ht":i.node.member.problems?.length?"bold":"normal"},i.label))))),t("p",{class:"dim"},"A filled circle is a full namespace, an open one a sub-namespace; red ones\
 have problems."))}function Ht({version:e}){let n=C("/api/quotas",e),s=C("/api/forest",e);return $("Quotas"),t("main",null,t(A,{from:n},a=>t(Pn,{data:a,forest:s.data})))}var Fe=e=>e>=
1?"full":e>=.8?"high":"";function je({limit:e,parts:n}){let s=a=>e.value>0?Math.min(100,a/e.value*100)+"%":"0%";return t("span",{class:"bar "+Fe(e.share),role:"\
meter","aria-label":e.resource,"aria-valuemin":0,"aria-valuemax":100,"aria-valuenow":Math.round(Math.min(1,e.share)*100),"aria-valuetext":`${e.used} of ${e.hard}`},
(n??[{name:"",value:e.share*e.value}]).map((a,o)=>t("i",{key:a.name,class:o%2?"odd":"",style:{width:s(a.value)},title:a.name&&`${a.name}: ${_e(a.value,e.hard)}`})))}
function Pn({data:e,forest:n}){let[s,a]=J(),o=s.get("resource")??"",r=Q(()=>new Map(n?.namespaces.map(p=>[p.name,p.parent])),[n]),l=[...new Set(e.quotas.flatMap(
p=>p.limits.map(c=>c.resource)))].sort(),d=p=>Math.max(0,...p.limits.filter(c=>!o||c.resource===o).map(c=>c.share)),m=e.quotas.filter(p=>!o||p.limits.some(c=>c.
resource===o)).sort((p,c)=>+!!c.problems-+!!p.problems||d(c)-d(p)),f=e.quotas.filter(p=>p.limits.some(c=>c.share>=1)).length;return t(h,null,t("div",{class:"hea\
d"},t("h1",null,"Quotas"),t("p",{class:"summary"},S(e.quotas.length,"quota"),", the fullest first",f>0&&t(h,null," · ",t("b",{class:"bad"},f," full"))),t(M,{command:"\
kubectl hns hrq -A --tree"})),t(I,{list:e.notes}),l.length>1&&t("div",{class:"tools"},t("label",null,"Resource ",t("select",{value:o,onChange:p=>a(p.target.value?
{resource:p.target.value}:{})},t("option",{value:""},"all"),l.map(p=>t("option",{key:p,value:p},p))))),m.length?m.map(p=>t(Tn,{key:p.namespace+"/"+p.name,quota:p,
parents:r,only:o})):t("p",{class:"box dim"},"There are no hierarchical quotas",e.quotas.length?" of this resource":" that you may see","."))}function Tn({quota:e,
parents:n,only:s}){let[a,o]=v(""),r=e.limits.filter(l=>!s||l.resource===s);return t("section",{class:"box","aria-label":`Quota ${e.name} of ${e.namespace}`,"dat\
a-quota":e.namespace+"/"+e.name},t("h2",null,t(E,{to:P(e.namespace)},e.namespace)," ",t("span",{class:"dim"},"/")," ",t(E,{to:H(e.namespace,"hierarchicalresourc\
equotas.hnc.x-k8s.io",e.name)},e.name)," ",e.scoped&&t("span",{class:"tag"},"scoped")),e.problems&&t(ue,{list:e.problems}),r.map((l,d)=>{let m=Mt(e,l.resource,n),
f=a===l.resource;return t("div",{class:"limit",key:l.resource},t("button",{class:"twist","aria-expanded":f,"aria-label":`Use of ${l.resource} by namespace`,disabled:!m.
children.length&&!m.own,onClick:()=>o(f?"":l.resource)},f?"▾":"▸"),t("span",{class:"what"},l.resource,d===0&&e.limits.length>1&&!s&&l.share>0&&t("span",{class:"\
tag"},"binds first")),t(je,{limit:l,parts:e.omitted?void 0:[...m.own?[{name:e.namespace,value:m.own}]:[],...m.children.map(p=>({name:p.name,value:p.sum}))]}),t(
"span",{class:"num "+Fe(l.share)},l.used," of ",l.hard," ",t("span",{class:"dim"},Tt(l.share))),f&&t("ul",{class:"use"},t(Bt,{use:m,limit:l})))}),r.length===0&&
t("p",{class:"dim"},"It limits nothing."),!!e.omitted&&t("p",{class:"note"},S(e.omitted,"namespace")," more use it than are listed."))}function Bt({use:e,limit:n}){
let s={...n,used:_e(e.sum,n.hard),share:n.value>0?e.sum/n.value:1};return t("li",null,t("div",{class:"branch"},t(E,{to:P(e.name)},e.name),t("span",{class:"num"},
_e(e.sum,n.hard),e.children.length>0&&t("span",{class:"dim"}," (",_e(e.own,n.hard)," itself)")),t(je,{limit:s})),e.children.length>0&&t("ul",null,e.children.map(
a=>t(Bt,{key:a.name,use:a,limit:n}))))}var G=30,Mn=200,Ze=new Map,Ve={text:"",problems:!1},Qt="";function Kt({version:e}){let n=C("/api/forest",e);$("Forest");let s=C("/api/quotas",e);return t("main",
{class:"forest"},t(A,{from:n},a=>t(Rn,{forest:a,quotas:s.data})))}function An(e,n){let s=new Map;for(let a of e.quotas)for(let o of a.limits)(!n||o.resource===n)&&
!(s.get(a.namespace)?.share>=o.share)&&s.set(a.namespace,o);return s}function Rn({forest:e,quotas:n}){let[s,a]=v(Qt),o=x=>{Qt=x,a(x)},r=Q(()=>[...new Set(n?.quotas.
flatMap(x=>x.limits.map(N=>N.resource)))].sort(),[n]),l=Q(()=>n?.quotas.length?An(n,s):void 0,[n,s]),d=Q(()=>Pt(e.namespaces),[e]),[m,f]=J(),p=m.get("view")==="\
drawing",[c,u]=v(Ve),[i,_]=v(!!Ve.mine),y=C("/api/mine",0,!i);F(()=>b({...c,mine:i&&y.data?new Set(y.data):void 0}),[i,y.data]);let b=x=>{Ve=x,u(x)},[,k]=v(0),R=e.
namespaces.length<=Mn,j=x=>Ze.get(x.member.name)??(R||x.problems>(x.member.problems?.length??0)),U=Ae(d,c,j),Z=e.namespaces.filter(x=>x.problems?.length),W=(x,N)=>{
Ze.set(x.member.name,N),k(ve=>ve+1)},V=x=>{for(let N of e.namespaces)Ze.set(N.name,x);k(N=>N+1)};return t("div",null,t("div",{class:"head"},t("h1",null,"Forest"),
t("p",{class:"summary"},S(e.namespaces.length,"namespace")," in ",S(d.length,"tree")," · ",Z.length?t("b",{class:"bad"},S(Z.length,"namespace")," with problems"):
t("span",{class:"good"},"no problems")),t(M,{command:"kubectl hns tree -A"})),e.partial&&t("p",{class:"stale"},e.partial),t("div",{class:"tools"},t("input",{id:"\
search",type:"search",placeholder:"Name, or label=value  ( / )","aria-label":"Filter by name, or by label=value",value:c.text,onInput:x=>b({...c,text:x.target.value}),
spellcheck:!1,autocomplete:"off"}),t("label",{class:"check"},t("input",{type:"checkbox",checked:c.problems,onChange:x=>b({...c,problems:x.target.checked})})," W\
ith problems"),t("label",{class:"check",title:"Namespaces that you may get by a role in them"},t("input",{type:"checkbox",checked:i,onChange:x=>_(x.target.checked)}),
" Mine"),t("span",{class:"grow"}),t("span",{class:"views",role:"group","aria-label":"View"},[["","Table"],["drawing","Drawing"]].map(([x,N])=>t("button",{key:x,
"aria-pressed":p===(x==="drawing"),onClick:()=>f(x?{view:x}:{})},N))),!p&&r.length>0&&t("label",null,"Quota of ",t("select",{value:s,onChange:x=>o(x.target.value)},
t("option",{value:""},"the fullest"),r.map(x=>t("option",{key:x,value:x},x)))),t("button",{onClick:()=>V(!0),disabled:pe(c)},"Expand all"),t("button",{onClick:()=>V(
!1),disabled:pe(c)},"Collapse all")),i&&y.error&&t(X,{problem:y.error.problem}),p&&U.length?t(It,{roots:d,filter:c,isExpanded:j}):U.length?t($n,{list:U,toggle:W,
fixed:pe(c),limits:l}):t("p",{class:"dim box",role:"status"},pe(c)?"No namespace matches the filter.":"There are no namespaces that you may see."))}function $n({
list:e,toggle:n,fixed:s,limits:a}){let o=z(null),[r,l]=v({top:0,height:800}),[d,m]=v(""),f=Math.max(0,e.findIndex(b=>b.node.member.name===d)),p=()=>{let b=o.current;
b&&l({top:b.scrollTop,height:b.clientHeight})};F(()=>(p(),addEventListener("resize",p),()=>removeEventListener("resize",p)),[e.length]);let c=b=>{b=Math.max(0,Math.
min(e.length-1,b)),m(e[b].node.member.name);let k=o.current;b*G<k.scrollTop&&(k.scrollTop=b*G),(b+1)*G>k.scrollTop+k.clientHeight&&(k.scrollTop=(b+1)*G-k.clientHeight)},
u=b=>{let k=e[f],R=Math.max(1,Math.floor(r.height/G)-1);if(!(b.ctrlKey||b.metaKey||b.altKey)){switch(b.key){case"ArrowDown":c(f+1);break;case"ArrowUp":c(f-1);break;case"\
PageDown":c(f+R);break;case"PageUp":c(f-R);break;case"Home":c(0);break;case"End":c(e.length-1);break;case"ArrowRight":k.expanded?c(f+1):k.node.children.length&&
!s&&n(k.node,!0);break;case"ArrowLeft":k.expanded&&!s?n(k.node,!1):k.parent>=0&&c(k.parent);break;case"Enter":q(P(k.node.member.name));break;default:return}b.preventDefault()}},
i=Math.max(0,Math.floor(r.top/G)-10),_=Math.min(e.length,Math.ceil((r.top+r.height)/G)+10),y=e.slice(i,_);return t("div",{class:"grid"+(a?" limited":""),role:"t\
reegrid","aria-label":"Namespaces","aria-rowcount":e.length+1,"aria-readonly":"true",tabIndex:0,onKeyDown:u,"aria-activedescendant":f>=i&&f<_?"row-"+e[f].node.member.
name:void 0},t("div",{class:"row header",role:"row","aria-rowindex":1},t("span",{role:"columnheader"},"Namespace"),t("span",{role:"columnheader"},"Problems"),a&&
t("span",{role:"columnheader",class:"wide"},"Quota"),t("span",{role:"columnheader",class:"wide"},"Kind"),t("span",{role:"columnheader",class:"num wide",title:"N\
amespaces below"},"Below"),t("span",{role:"columnheader",class:"num"},"Age")),t("div",{class:"rows",role:"rowgroup",ref:o,onScroll:p,tabIndex:-1},t("div",{role:"\
presentation",style:{height:e.length*G+"px",position:"relative"}},y.map((b,k)=>t(Un,{key:b.node.member.name,row:b,index:i+k,active:i+k===f,fixed:s,choose:()=>m(
b.node.member.name),toggle:n,limits:a})))))}function Un({row:e,index:n,active:s,fixed:a,choose:o,toggle:r,limits:l}){let{node:d,depth:m,expanded:f}=e,{member:p,
children:c}=d,u=p.problems?.length??0,i=d.problems-u,_=l?.get(p.name);return t("div",{id:"row-"+p.name,role:"row",class:"row"+(s?" active":"")+(u?" troubled":""),
"aria-level":m+1,"aria-rowindex":n+2,"aria-posinset":e.position,"aria-setsize":e.siblings,"aria-expanded":c.length?f:void 0,style:{top:n*G+"px","--depth":m},onMouseDown:o,
draggable:!0,onDragStart:y=>y.dataTransfer.setData("text/x-namespace",p.name),onDragOver:y=>{y.dataTransfer.types.includes("text/x-namespace")&&y.preventDefault()},
onDrop:y=>{y.preventDefault();let b=y.dataTransfer.getData("text/x-namespace");b&&b!==p.name&&q(`/plan?namespace=${b}&change=move&parent=${p.name}`)}},t("span",
{role:"gridcell",class:"name"},c.length?t("button",{class:"twist",tabIndex:-1,"aria-hidden":"true",disabled:a,onClick:()=>r(d,!f)},f?"▾":"▸"):t("span",{class:"\
twist"}),t(E,{to:P(p.name),tabIndex:-1,title:p.name},p.name),p.deleting&&t("span",{class:"tag"},"deleting")),t("span",{role:"gridcell",class:"what"},u?t("span",
{class:"problem",title:p.problems.map(y=>`${Y(y.type)}: ${y.message}`).join(`
`)},t("b",null,Y(p.problems[0].reason))," ",t("span",{class:"wide"},p.problems[0].message),u>1&&` +${u-1}`):i&&!f?t("span",{class:"problem below"},i," below"):null),
l&&t("span",{role:"gridcell",class:"quota wide"},_&&t(E,{to:"/quotas",tabIndex:-1,title:`${_.resource}: ${_.used} of ${_.hard}`},t(je,{limit:_})," ",t("span",{class:Fe(
_.share)},_.used,"/",_.hard)," ",t("span",{class:"dim"},_.resource))),t("span",{role:"gridcell",class:"dim wide"},p.kind==="full"?"":p.kind),t("span",{role:"gri\
dcell",class:"num dim wide"},d.descendants||""),t("span",{role:"gridcell",class:"num dim"},be(p.created)))}function Gt({version:e,...n}){let{namespace:s,resource:a,name:o}=n,r=`/api/namespaces/${s}/objects/${encodeURIComponent(a)}/${encodeURIComponent(o)}`,l=C(r,e),d=l.
data&&l.data.state!=="Absent";return $(`${o} in ${s}`),t("main",null,t(Je,{names:[s,o]}),t("div",{class:"head"},t("h1",null,o),t("p",{class:"summary"},a," in ",
s),t(M,{command:`kubectl hns explain ${a} ${o} -n ${s}`})),t(A,{from:l},m=>t(Nn,{a:m,place:n})),d&&t(Fn,{path:r+"/content",version:e,place:n}))}function Nn({a:e,
place:n}){let s={Copy:`It is a copy of the one in ${e.source}.`,Local:"It was made here; it is not a copy.",Absent:`It is not in ${e.namespace}.`}[e.state];return t(
"div",{class:"story"},t("section",{class:"box","data-state":e.state},t("h2",null,s),t("ul",null,e.because.map(a=>t("li",{key:a,class:"message"},a)))),t("section",
{"aria-labelledby":"way"},t("h2",{id:"way"},"From the root to ",e.namespace),t("ol",{class:"way"},[...e.levels].reverse().map(a=>{let o=a.namespace===e.namespace,
r=a.namespace===e.source;return t("li",{key:a.namespace,class:r?"source":a.state==="Local"?"Local":o?"here "+e.state:a.state},t(E,{to:a.state&&a.state!=="Absent"&&
!o?H(a.namespace,n.resource,n.name):P(a.namespace)},a.namespace)," ",t("span",{class:"dim"},a.unread?`not known: ${a.unread}`:r?"the source":a.state==="Copy"?`a\
 copy${a.source===e.source?"":` of ${a.source}`}`:a.state==="Local"?"made here":"not here"),a.mode&&a.mode!=="Propagate"&&t("span",{class:"tag",title:"How objec\
ts of the kind are propagated from here"},a.mode))}))))}function Fn({path:e,version:n,place:s}){let a=C(e,n);return t(A,{from:a},o=>t(h,null,t(I,{list:o.notes}),
o.source&&!o.difference&&!o.notes&&t("p",{class:"dim"},"It is equal to its source, apart from what the server sets."),o.difference&&t("details",{class:"box fold"},
t("summary",null,t("h2",null,"Difference from the source in ",o.source)),t(he,{text:o.difference})),o.overwritten&&t("details",{class:"box fold",open:!0,"data-o\
verwritten":!0},t("summary",null,t("h2",null,"What it has overwritten")),t("p",{class:"dim"},"An ancestor's object replaced one that was made here. Removed line\
s are those of the former."),t(he,{text:o.overwritten}),t(M,{command:`kubectl hns explain ${s.resource} ${s.name} -n ${s.namespace} --overwritten`})),t("details",
{class:"box fold","data-yaml":!0},t("summary",null,t("h2",null,"YAML")),t("div",{class:"tools"},t("span",{class:"grow"}),t(Ut,{text:o.manifest,title:"Copy as YA\
ML"})),t("pre",{class:"yaml"},o.manifest))))}var oe={move:{title:"Move it below",fields:["parent"]},root:{title:"Make it a root",fields:[]},delete:{title:"Delete it",fields:[]},mode:{title:"Set the mode of\
 a kind",fields:["resource","mode"]},child:{title:"Create a child named",fields:["child"],write:!0},allow:{title:"Allow cascading deletion",fields:[],write:!0},
forbid:{title:"Forbid cascading deletion",fields:[],write:!0}},Wt={parent:"New parent",resource:"Resource",mode:"Mode",child:"Name of the child"},jn=["Propagate",
"AllowPropagate","Remove","Ignore"],Dn=2e3;function Yt({version:e}){let[n,s]=J(),a=C("/api/session",0),o=C("/api/forest",0),r=Object.fromEntries(n),[l,d]=v(r.change in
oe?r.change:"move");F(()=>{r.change in oe&&d(r.change)},[r.change]),$(r.namespace?`Plan for ${r.namespace}`:"Plan");let m=r.namespace&&r.change in oe&&oe[r.change].
fields.every(u=>r[u]),f=u=>{u.preventDefault();let i=new FormData(u.target);s(Object.fromEntries(["namespace","change",...oe[l].fields].map(_=>[_,String(i.get(_)).
trim()])))},p=(o.data?.namespaces??[]).slice(0,Dn),c=(u,i)=>t("input",{key:u,name:u,"aria-label":Wt[u]??"Namespace",placeholder:Wt[u]??"Namespace",list:i,value:r[u]??
"",required:!0,autocomplete:"off",spellcheck:!1});return t("main",null,t("div",{class:"head"},t("h1",null,"Plan"),t("p",{class:"summary"},"What a change would d\
o. Looking at it changes nothing.")),t("form",{class:"tools ask box",onSubmit:f,key:n.toString(),"data-page":"plan"},t("label",null,"Namespace ",c("namespace","\
namespaces")),t("select",{name:"change","aria-label":"Change",value:l,onChange:u=>d(u.target.value)},Object.entries(oe).filter(([,u])=>!u.write||a.data?.write).
map(([u,i])=>t("option",{key:u,value:u},i.title))),oe[l].fields.map(u=>u==="mode"?t("select",{key:u,name:u,"aria-label":"Mode",value:r.mode??"Propagate"},jn.map(
i=>t("option",{key:i,value:i},i))):c(u,u==="parent"?"namespaces":void 0)),t("datalist",{id:"namespaces"},p.map(u=>t("option",{key:u.name,value:u.name}))),t("but\
ton",{class:"primary"},"Preview")),m&&t(On,{key:n.toString(),fields:r,version:e,session:a.data}))}function On({fields:e,version:n,session:s}){let[a,o]=v(!1),{namespace:r,
...l}=e,d=C(`/api/namespaces/${encodeURIComponent(r)}/plan?`+new URLSearchParams(l),n,a);return a?t("p",{class:"box good",role:"status"},"Done. ",e.change==="de\
lete"?"The namespace is being deleted.":"Copies follow within seconds."," ",t(E,{to:e.change==="delete"?"/":P(e.child??r)},e.change==="delete"?"Forest":e.child??
r)):t(A,{from:d},m=>t(In,{plan:m,fields:e,write:!!s?.write,done:()=>o(!0)}))}function In({plan:e,fields:n,write:s,done:a}){let o=e.status,[r,l]=v(!1),d=o.namespaces??
[],m=r?d:d.slice(0,50),f=Rt(d),p=o.hidden?.map(c=>c.group?`${c.resource}.${c.group}`:c.resource);return t("div",{"data-plan":n.change},o.refusals?.map(c=>t("sec\
tion",{class:"box bad",role:"alert",key:c.message},t("h2",null,"It would be refused: ",c.reason),t("p",{class:"message"},c.message))),t("section",{class:"box"},
t("div",{class:"head"},t("h2",{role:"status"},e.summary),t("span",{class:"grow"}),e.see&&t(M,{command:e.see})),o.exceededQuotas&&t(h,null,t("h3",{class:"bad"},"\
Hierarchical quotas that it would exceed"),t("table",{class:"list"},t("thead",null,t("tr",null,t("th",null,"Quota"),t("th",null,"Resource"),t("th",{class:"num"},
"Used"),t("th",{class:"num"},"Moved"),t("th",{class:"num"},"Limit"))),t("tbody",null,o.exceededQuotas.map(c=>t("tr",{key:c.namespace+c.name+c.resource},t("td",null,
c.namespace,"/",c.name),t("td",null,c.resource),t("td",{class:"num","data-label":"Used"},c.used),t("td",{class:"num","data-label":"Moved"},c.moved),t("td",{class:"\
num","data-label":"Limit"},c.limit)))))),!!o.omittedExceededQuotas&&t("p",{class:"note"},S(o.omittedExceededQuotas,"limit")," more would be exceeded, of quotas \
that you may not get, or that are too many."),f.length>0&&t(h,null,t("h3",null,"Permissions"),t("ul",{class:"plain access"},f.map(c=>t("li",{key:c.text},t("span",
{class:"mark "+c.change},c.change==="Gained"?"+":"−"),c.text," ",t("span",{class:"dim"},"in ",c.namespaces.length>3?S(c.namespaces.length,"namespace"):c.namespaces.
join(", "))))))),t(I,{list:[...p?[`Left out, because you may not list them in ${n.namespace}: ${p.join(", ")}`]:[],...(o.unknown??[]).map(c=>"Not known: "+c)]}),
m.map(c=>t(Bn,{key:c.name,plan:c,open:d.length<=5})),m.length<d.length&&t("button",{onClick:()=>l(!0)},"Show ",d.length-m.length," more namespaces"),t(Qn,{plan:e,
fields:n,write:s,done:a}))}var Hn={Add:"+",Change:"~",Overwrite:"!",Remove:"−",Keep:"="},zt={Add:"added",Change:"changed",Overwrite:"overwritten",Remove:"remo\
ved",Keep:"kept"};function Bn({plan:e,open:n}){let s=e.objects??[],a=Object.entries(zt).map(([o,r])=>[s.filter(l=>l.action===o).length,r]).filter(([o])=>o);return t(
"details",{class:"box fold",open:n,"data-namespace":e.name},t("summary",null,t("h2",null,e.name)," ",e.fate&&t("span",{class:"tag bad"},e.fate.toLowerCase())," ",
t("span",{class:"dim"},a.map(([o,r])=>`${o} ${r}`).join(", "))),t("ul",{class:"plain"},e.labels?.map(o=>t("li",{key:o.key},t("span",{class:"mark"},"~"),"label ",
t("code",null,o.key),": ",o.before||"none"," → ",o.after||"none")),e.quotas?.map(o=>t("li",{key:o.name+o.resource,class:"bad"},t("span",{class:"mark"},"!"),"R\
esourceQuota ",o.name," allows ",o.hard," of ",o.resource,", and there would be ",o.planned)),s.map(o=>t("li",{key:o.group+o.kind+o.name},t("span",{class:"mark "+
o.action},Hn[o.action]),t("span",{class:"hidden"},zt[o.action],": "),o.kind,"/",o.name,o.source&&t("span",{class:"dim"}," from ",o.source),o.difference&&t("deta\
ils",null,t("summary",null,"difference"),t(he,{text:o.difference}))))))}function Qn({plan:e,fields:n,write:s,done:a}){let o=z(null),[r,l]=v(""),[d,m]=v(!1),[f,p]=v(),
c=n.change==="delete",{namespace:u,...i}=n,_=async y=>{y.preventDefault(),m(!0),p(void 0);try{await Ct(`/api/namespaces/${encodeURIComponent(u)}/changes`,{...i,
confirm:r}),a()}catch(b){p(b),m(!1)}};return e.status.refusals?.length?null:t("section",{class:"box","aria-labelledby":"make"},t("div",{class:"head"},t("h2",{id:"\
make"},"Make the change"),t("span",{class:"grow"}),t(M,{command:e.make})),s?e.writable?t("button",{class:c?"danger":"primary",onClick:()=>o.current.showModal()},
"Apply …"):t("p",{class:"dim"},"The page does not make this change. Run the command."):t("p",{class:"dim"},"The page is read-only. Run the command, or start t\
he page with ",t("code",null,"kubectl hns ui --write"),"."),s&&e.writable&&t("dialog",{ref:o,"aria-labelledby":"confirm",onClose:()=>{l(""),p(void 0)}},t("form",
{onSubmit:_},t("h2",{id:"confirm"},e.summary.replace(" would "," will ")),t("p",null,t("code",null,e.make)),c&&t("p",null,t("label",null,"What is in it is lost.\
 Type its name to delete it: ",t("input",{value:r,onInput:y=>l(y.target.value),"aria-label":"Name of the namespace",autocomplete:"off",spellcheck:!1}))),f&&t(X,
{problem:f.problem}),t("div",{class:"tools"},t("span",{class:"grow"}),t("button",{type:"button",onClick:()=>o.current.close()},"Cancel"),t("button",{class:c?"da\
nger":"primary",disabled:d||c&&r!==u},d?"Applying …":"Apply")))))}var Kn={connecting:"Connecting",live:"Live",lost:"Not connected"},Gn=[["/","Forest"],["/quotas","Quotas"],["/plan","Plan"],["/admin","Kinds and servers"]],Wn=15e3;
function zn(){let[e,n]=v(location.pathname),[,s]=v(location.search),[a,o]=v(0),[r,l]=St(),d=C("/api/session",0);F(()=>{let f=()=>{n(location.pathname),s(location.
search)},p=setInterval(()=>document.hidden||o(u=>u+1),Wn),c=u=>{u.key!=="/"||u.ctrlKey||u.metaKey||u.altKey||u.target.matches("input, textarea, select")||(u.preventDefault(),
location.pathname!=="/"&&q("/"),setTimeout(()=>document.getElementById("search")?.focus()))};return addEventListener("popstate",f),addEventListener("keydown",c),
()=>{clearInterval(p),removeEventListener("popstate",f),removeEventListener("keydown",c)}},[]);let m=d.data;return t(h,null,t("header",null,t(E,{to:"/",class:"b\
rand"},t("img",{src:"/icon.svg",alt:"",width:"22",height:"22"}),t("b",null,"hns")),t("nav",{class:"pages","aria-label":"Pages"},Gn.map(([f,p])=>t(E,{key:f,to:f,
"aria-current":e===f?"page":void 0},p))),t("span",{class:"context"},m&&t(h,null,t("b",{title:"Cluster "+m.cluster},m.context||"no context"),t("span",{class:"dim"},
" ",m.user))),t("span",{class:"grow"}),m&&t("span",{class:"wide tag"+(m.write?" warn":"")},m.write?"may write":"read-only"),t("span",{class:"state "+r,role:"sta\
tus"},Kn[r])),d.error?.status===401?t("main",null,t(X,{problem:d.error.problem})):t(Yn,{key:e,path:e,version:l,tick:l+a}))}function Yn({path:e,version:n,tick:s}){
let a=e.split("/").slice(1).map(o=>{try{return decodeURIComponent(o)}catch{return o}});if(e==="/")return t(Kt,{version:n});if(e==="/quotas")return t(Ht,{version:n});
if(e==="/plan")return t(Yt,{version:n});if(e==="/admin")return t(Ot,{version:s});if(a[0]==="ns"&&a[1]){if(a.length===2)return t(Ft,{name:a[1],version:s});if(a.length===
3&&a[2]==="access")return t(jt,{name:a[1],version:s});if(a.length===4)return t(Gt,{namespace:a[1],resource:a[2],name:a[3],version:s})}return t("main",null,t(X,{
problem:{title:"There is no such page",hint:"The name at the top left leads to the forest."}}))}Et();Ke(t(zn,null),document.getElementById("app"));
