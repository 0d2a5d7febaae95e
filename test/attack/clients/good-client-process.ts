import { request } from 'node:http';
import { seededRandom } from '#test/builders/random.ts';
import { type GoodAnswer, type GoodOrder, patienceMs, type QuestionKind } from './messages.ts';

/**
 * Number of requests per second. This is as fast as a busy client, and far below the number that the service can
 * answer.
 */
const rates: Readonly<Record<QuestionKind, number>> = { lookup: 20, search: 4, page: 3, stream: 2 };

const random = seededRandom('good');
const pick = <Value>(values: readonly Value[]): Value => values[random.below(values.length)] as Value;

interface Question {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

let searches = 0;
const json = { accept: 'application/json' };

/** Requests of an honest client, by kind. */
const questions: Readonly<Record<QuestionKind, (order: GoodOrder) => Question>> = {
  lookup: ({ targets: { ordinary, tipHeight } }) =>
    pick<() => Question>([
      () => ({ path: `/inscription/${pick(ordinary)}`, headers: json }),
      () => ({ path: `/r/inscription/${pick(ordinary)}` }),
      () => ({ path: `/content/${pick(ordinary)}` }),
      () => ({ path: `/r/blockhash/${random.below(tipHeight)}` }),
      () => ({ path: '/missing', headers: json, body: JSON.stringify([pick(ordinary), pick(ordinary)]) }),
    ])(),
  search: ({ targets: { needles, tipHeight }, keys }) => {
    const text = encodeURIComponent(pick(needles));
    const key = keys[searches++ % keys.length]!;
    const headers = { 'x-api-key': key };
    return pick<() => Question>([
      () => ({ path: `/search?text=${text}&itemsPerPage=20`, headers }),
      () => ({ path: `/search?text=brc-20,mint&itemsPerPage=20&page=${1 + random.below(5)}`, headers }),
      () => ({
        path: `/search?text=satoshi&words=1&from=${random.below(tipHeight)}&itemsPerPage=20`,
        headers,
      }),
    ])();
  },
  page: ({ targets: { ordinary } }) => ({
    path: pick(['/', '/blocks', '/inscriptions', `/inscription/${pick(ordinary)}`]),
    headers: { accept: 'text/html' },
  }),
  stream: () => ({ path: '/events', headers: { accept: 'text/event-stream' } }),
};

process.once('message', (order: GoodOrder) => {
  for (const [kind, rate] of Object.entries(rates) as [QuestionKind, number][]) {
    setInterval(() => ask(order, kind), 1000 / rate);
  }
});

/** Sends a request on a new connection, like a new client, and reports the result. */
function ask(order: GoodOrder, kind: QuestionKind): void {
  const { path, headers, body } = questions[kind](order);
  const startedAt = Date.now();
  const start = performance.now();
  const end = (outcome: number | string): void => {
    clearTimeout(timer);
    const milliseconds = performance.now() - start;
    const answer: GoodAnswer = { kind, path, startedAt, milliseconds, outcome };
    process.send?.(answer);
  };
  const asked = request({
    host: '127.0.0.1',
    port: order.port,
    localAddress: order.address,
    agent: false,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
  });
  const timer = setTimeout(() => asked.destroy(new Error('timeout')), patienceMs);
  let isEnded = false;
  const once = (outcome: number | string): void => {
    if (isEnded) return;
    isEnded = true;
    end(outcome);
  };
  asked.on('error', (error: NodeJS.ErrnoException) => once(error.code ?? error.message));
  asked.on('response', (response) => {
    const status = response.statusCode ?? 0;
    response.on('error', (error: NodeJS.ErrnoException) => once(error.code ?? error.message));
    response.on('data', () => {
      // a stream works if its first bytes arrive
      if (kind !== 'stream' || isEnded) return;
      once(status);
      asked.destroy();
    });
    response.on('end', () => once(status));
  });
  asked.end(body);
}
