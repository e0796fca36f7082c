/** The shell's viewer sends this to a page in its frame, with a port for the answer: the URL and the title. */
export const viewQuestion = 'antway:page';
/** As `viewQuestion`. The worker of the page answers with the id of the page's client. */
export const clientQuestion = 'antway:client';

/**
 * A part of the script that begins a document on a site's own origin. It tells only the window that frames the page its
 * URL and title, which the worker cannot see once a script has changed them. The worker tells the same window which
 * page this is. The site sees no such message. Only the shell and the site itself can frame the page.
 */
export const viewShim = `
const controllerOf=window.ServiceWorkerContainer&&Object.getOwnPropertyDescriptor(ServiceWorkerContainer.prototype,'controller').get;
addEventListener('message',event=>{
const{source,data,ports}=event,port=ports[0];
const isPage=data==='${viewQuestion}';
if(source!==parent||!port||!isPage&&data!=='${clientQuestion}')return;
event.stopImmediatePropagation();
if(isPage)port.postMessage([location.href,document.title+'']);
else controllerOf?.call(navigator.serviceWorker)?.postMessage({type:'CLIENT'},[port])
},true);
`;
