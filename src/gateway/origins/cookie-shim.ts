/**
 * A part of the script that begins a document on a site's own origin. It deletes the cookies of the gateway's name, at all
 * paths that this page sees: scripts of other sites have set them. The script has no quotes but these, and is ASCII.
 */
export const cookieShim = `
const forget=path=>{for(const cookie of document.cookie.split('; '))for(const kind of['','; Secure','; Secure; Partitioned'])document.cookie=(cookie.includes('=')?cookie.split('=')[0]:'')+'=0; Max-Age=0; Domain='+location.hostname.slice(53)+'; Path='+path+kind};
if(document.cookie)location.pathname.split('/').forEach((_,i,all)=>{const path=all.slice(0,i+1).join('/');forget(path+'/');if(path)forget(path)});
`;
