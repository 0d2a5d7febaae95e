/** A page without a script. */
export const stillPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Field notes</title><style>
body{margin:0;min-height:100vh;display:grid;place-items:center;background:linear-gradient(160deg,#0f2027,#2c5364);color:#f1ead8;font:italic 1.3rem/1.7 Georgia,serif}
main{max-width:22em;padding:2em}h1{font-size:1.1em;letter-spacing:.2em;text-transform:uppercase;color:#ffcf8f}</style>
<main><h1>Field notes</h1><p>Every ten minutes, or so, a page is added.<br>It cannot be torn out.</p><p>I left a pressed flower at this height.</p></main></html>`;

/** Waves that move. The page's own script draws them. */
export const wavesPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Waves</title><style>html,body{margin:0;height:100%;background:#081120}canvas{display:block;width:100%;height:100%}</style>
<canvas id="c"></canvas><script>
const c=document.getElementById('c'),x=c.getContext('2d');let t=0;
function draw(){c.width=c.clientWidth;c.height=c.clientHeight;const w=c.width,h=c.height;x.fillStyle='#081120';x.fillRect(0,0,w,h);
for(let l=0;l<14;l++){x.beginPath();x.strokeStyle='hsla('+(190+l*9)+',80%,'+(40+l*2)+'%,.8)';x.lineWidth=2;
for(let i=0;i<=w;i+=6){const y=h*(.15+l*.055)+Math.sin(i/70+t+l*.6)*h*.03+Math.sin(i/31-t*1.7+l)*h*.012;i?x.lineTo(i,y):x.moveTo(i,y)}x.stroke()}
t+=.02;requestAnimationFrame(draw)}draw()
</script></html>`;

/** A library that other inscriptions load. */
export const library = `// grows a tree of strokes from a number
export function grow(canvas, seed) {
  const context = canvas.getContext('2d');
  let state = seed >>> 0;
  const random = () => ((state = (state * 1664525 + 1013904223) >>> 0) / 4294967296);
  const branch = (x, y, angle, length, width) => {
    const toX = x + Math.cos(angle) * length, toY = y + Math.sin(angle) * length;
    context.beginPath(); context.lineWidth = width; context.lineCap = 'round';
    context.strokeStyle = width > 3 ? '#6b4a35' : 'hsl(' + (95 + random() * 50) + ' 45% 45%)';
    context.moveTo(x, y); context.lineTo(toX, toY); context.stroke();
    if (length < 8) return;
    for (let at = 0; at < 2 + (random() > 0.7); at++)
      branch(toX, toY, angle + (random() - 0.5) * 1.2, length * (0.68 + random() * 0.16), width * 0.7);
  };
  context.fillStyle = '#f6f1e4'; context.fillRect(0, 0, canvas.width, canvas.height);
  branch(canvas.width / 2, canvas.height, -Math.PI / 2, canvas.height / 5, 12);
}
`;

/** A page that loads the library from the library's inscription. */
export const treePage = (libraryId: string, seed: number): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tree ${seed}</title><style>html,body{margin:0;background:#f6f1e4}canvas{display:block;width:100%;height:auto}</style><canvas width="600" height="600"></canvas><script type="module">import { grow } from '/content/${libraryId}';grow(document.querySelector('canvas'), ${seed});</script></html>`;

/** A picture that consists of other inscriptions. */
export const collage = (ids: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">${ids
    .map(
      (id, at) =>
        `<image href="/content/${id}" x="${(at % 2) * 200}" y="${Math.floor(at / 2) * 200}" width="200" height="200"/>`,
    )
    .join('')}</svg>`;

/** Texts in writing systems in which people inscribe. All are written for the demo. */
export const texts: readonly (readonly [contentType: string, text: string])[] = [
  ['text/plain;charset=utf-8', 'gm'],
  ['text/plain;charset=utf-8', 'A letter to the reader of this block: the tea is still warm.'],
  ['text/plain;charset=utf-8', 'old pond of hashes\na frog finds the right nonce\nsplash: a new block'],
  ['text/plain;charset=utf-8', 'Καλημέρα από το επόμενο μπλοκ.'],
  ['text/plain;charset=utf-8', 'Доброе утро! Этот текст останется здесь.'],
  ['text/plain;charset=utf-8', 'صباح الخير، هذه الكلمات باقية.'],
  ['text/plain;charset=utf-8', 'בוקר טוב, המילים האלה נשארות.'],
  ['text/plain;charset=utf-8', 'सुप्रभात, ये शब्द यहीं रहेंगे।'],
  ['text/plain;charset=utf-8', 'สวัสดี ข้อความนี้จะอยู่ตลอดไป'],
  ['text/plain;charset=utf-8', '次のブロックでまた会いましょう。'],
  ['text/plain;charset=utf-8', '你好，这句话写在区块里。'],
  ['text/plain;charset=utf-8', '안녕하세요, 이 글은 여기에 남습니다.'],
  ['text/plain;charset=utf-8', '🌊🌊🌙 ⛵️ 🌊🌊'],
  [
    'text/markdown',
    '# A recipe\n\n1. one block\n2. a pinch of *witness*\n3. wait ten minutes\n\n> Serve cold.',
  ],
  ['text/plain;charset=utf-8', 'satscribe finds this sentence, punctuation and all: "to be, or not to be?"'],
  ['application/json', '{"kind":"recipe","name":"Block bread","minutes":10,"steps":["mix","rest","bake"]}'],
];

/** Operations of BRC-20. */
export const deploy = (tick: string, max: number, each: number): string =>
  `{"p":"brc-20","op":"deploy","tick":"${tick}","max":"${max}","lim":"${each}"}`;
export const mint = (tick: string, amount: number): string =>
  `{"p":"brc-20","op":"mint","tick":"${tick}","amt":"${amount}"}`;
export const transfer = (tick: string, amount: number): string =>
  `{"p":"brc-20","op":"transfer","tick":"${tick}","amt":"${amount}"}`;
