import { foreignPrefix } from '../http/target.ts';

/**
 * A part of the script that begins a document on a site's own origin. Browsers cannot fetch `ant://`, `autonomi://` and
 * the addresses of `https://aut.local`. Here `fetch` and `Request` take them: they lead to the worker of the page's
 * origin. All other arguments reach the browser's functions unchanged. The script has no quotes but these, and is ASCII.
 */
export const fetchShim = `
const link=/^\\s*(?:(?:ant|autonomi):\\/\\/|https?:\\/\\/aut\\.local\\/)([0-9a-f]{64})(?=[\\/?#]|\\s*$)/i;
const mapped=args=>{const[first]=args;if(typeof first==='string'||first instanceof URL)args[0]=link.test(first)?String(first).replace(link,(_,hex)=>'${foreignPrefix}'+hex.toLowerCase()):first;return args};
self.fetch=new Proxy(fetch,{apply:(target,self,args)=>Reflect.apply(target,self,mapped(args))});
self.Request=new Proxy(Request,{construct:(target,args,made)=>Reflect.construct(target,mapped(args),made)});
`;
