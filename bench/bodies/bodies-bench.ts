import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from '#test/builders/random.ts';
import { numberOption } from '../options.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';
import type { LoopDelays, ServerMessage } from './bodies-server.ts';

const megabyte = 1_000_000;
const serverFile = fileURLToPath(new URL('./bodies-server.ts', import.meta.url));
/** Number of concurrent bodies. All large bodies of a process together may have 256 MB. */
const atOnce = 3;

/** Measures the delays of a server's event loop while orders with large files are posted to the server. */
export async function bodiesBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      megabytes: { type: 'string', default: '67' },
      files: { type: 'string', default: '50' },
      rounds: { type: 'string', default: '9' },
      seed: { type: 'string', default: '1' },
    },
  });
  const megabytes = numberOption('megabytes', values.megabytes, 2);
  const files = numberOption('files', values.files, 1);
  const rounds = numberOption('rounds', values.rounds, 1);
  const body = orderOf(megabytes * megabyte, files, values.seed);
  const server = fork(serverFile, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const { port } = (await messageOf(server)) as { readonly port: number };
    const post = (): Promise<void> => postOrder(`http://127.0.0.1:${port}/bench/order`, body);
    // the first body starts the thread and compiles the code
    await post();
    const alone = await measured(server, rounds, post);
    const together = await measured(server, rounds, async () => {
      await Promise.all(Array.from({ length: atOnce }, post));
    });
    return {
      bench: 'bodies',
      notes: [
        `orders of ${files} files, ${(body.byteLength / megabyte).toFixed(1)} MB as JSON, ${rounds} rounds, warm: medians of the rounds`,
        'delays of the event loop of the server, from the first byte to the answer, sampled each millisecond',
      ],
      figures: [
        { name: 'alone_p99_ms', value: alone.p99Ms, unit: 'ms', target: { most: 50 } },
        { name: 'together_p99_ms', value: together.p99Ms, unit: 'ms', target: { most: 50 } },
      ],
      details: [
        { name: 'alone, p50', value: alone.p50Ms, unit: 'ms' },
        { name: 'alone, longest', value: alone.longestMs, unit: 'ms' },
        { name: 'alone, longest by processor time', value: alone.busiestMs, unit: 'ms' },
        { name: 'alone, until the answer', value: alone.answerMs, unit: 'ms' },
        { name: `${atOnce} together, p50`, value: together.p50Ms, unit: 'ms' },
        { name: `${atOnce} together, longest`, value: together.longestMs, unit: 'ms' },
        { name: `${atOnce} together, longest by processor time`, value: together.busiestMs, unit: 'ms' },
        { name: `${atOnce} together, until the last answer`, value: together.answerMs, unit: 'ms' },
      ],
    };
  } finally {
    server.disconnect();
    await once(server, 'exit');
  }
}

/** An order whose files are random bytes in base64. */
function orderOf(bytes: number, files: number, seed: string): Buffer {
  const random = seededRandom(seed);
  const fileBytes = Math.floor(((bytes / files) * 3) / 4);
  const list = Array.from({ length: files }, (_, place) => {
    const file = Buffer.alloc(fileBytes);
    random.fill(file, 0, fileBytes);
    return { name: `${place}.png`, dataURL: `data:image/png;base64,${file.toString('base64')}` };
  });
  return Buffer.from(JSON.stringify({ files: list }));
}

async function postOrder(url: string, body: Buffer): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/json' },
  });
  if (answer.status !== 200)
    throw new Error(`the order was answered ${answer.status}: ${await answer.text()}`);
  await answer.text();
}

type Measured = LoopDelays & { readonly answerMs: number };

async function measured(server: ChildProcess, rounds: number, work: () => Promise<void>): Promise<Measured> {
  const all: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    server.send('begin');
    const start = performance.now();
    await work();
    const answerMs = performance.now() - start;
    server.send('end');
    all.push({ ...((await messageOf(server)) as LoopDelays), answerMs });
  }
  const of = (name: keyof Measured): number => median(all.map((round) => round[name]));
  return {
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    longestMs: of('longestMs'),
    busiestMs: of('busiestMs'),
    answerMs: of('answerMs'),
  };
}

async function messageOf(server: ChildProcess): Promise<ServerMessage> {
  const [message] = (await once(server, 'message')) as [ServerMessage];
  return message;
}
