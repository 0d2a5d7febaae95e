import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Fields } from '#web/assets/script/order/order-body.js';
import { type Priced, Pricing, questionOf, unreadable } from '#web/assets/script/order/pricing.js';

const fields = {
  type: 'direct',
  receiveAddress: '',
  fee: '2',
  refundAddress: '',
  postage: '',
  parentId: '',
  parentValue: '',
  parentReturn: '',
  allowedSatributes: '',
  rareSats: '',
  metadata: '',
  metaprotocol: '',
  inscriptionIdPrefix: '',
  timeout: '',
  burn: false,
  uncurse: false,
  compress: false,
  shared: false,
} satisfies Fields;
const itemOf = (size: number) =>
  ({ kind: 'file', name: 'a.txt', size, blob: new Blob(['a'.repeat(size)]) }) as const;

interface Sent {
  readonly path: string;
  readonly order: { readonly files: readonly { readonly dataURL?: string }[]; readonly uncurseIt?: boolean };
}
let sent: Sent[];
let answers: (() => Response)[];
const priceOf =
  (amount: number, warnings: readonly object[] = []) =>
  () =>
    Response.json({ amount, count: 2, warnings });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  sent = [];
  answers = [];
  // the network
  vi.stubGlobal('fetch', async (path: string, { body, signal }: { body: string; signal: AbortSignal }) => {
    signal.throwIfAborted();
    sent.push({ path, order: (JSON.parse(body) as { order: Sent['order'] }).order });
    return answers.shift()!();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A pricing whose results are recorded in `told`. */
function asking() {
  const told: Priced[] = [];
  const pricing = new Pricing((priced) => told.push(priced));
  const until = (count: number): Promise<unknown> => vi.waitFor(() => expect(told).toHaveLength(count));
  return { pricing, told, until };
}

test('only the newest question is asked, after a pause of typing', async () => {
  const { pricing, told, until } = asking();
  answers = [priceOf(5)];
  for (let typed = 1; typed < 5; typed++) {
    pricing.ask(questionOf([itemOf(typed)], fields));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  await until(1);
  expect(sent).toHaveLength(1);
  expect(told).toMatchObject([{ kind: 'price', price: { amount: 5 }, uncursed: null }]);
});

test('after a refusal for too many requests the question is repeated at the allowed time', async () => {
  const { pricing, told, until } = asking();
  answers = [
    () => Response.json({ error: [{ msg: 'too many' }] }, { status: 429, headers: { 'retry-after': '7' } }),
    priceOf(5),
  ];
  pricing.ask(questionOf([itemOf(1)], fields));
  await vi.advanceTimersByTimeAsync(500);
  await until(1);
  expect(told[0]).toMatchObject({
    kind: 'refused',
    messages: [expect.stringMatching(/Try again in 7 s/u), 'too many', expect.stringMatching(/by itself/u)],
  });
  await vi.advanceTimersByTimeAsync(6_000);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_500);
  await until(2);
  expect(told[1]).toMatchObject({ kind: 'price' });
});

test('if some would be vindicated, the price of one reveal each is requested too', async () => {
  const { pricing, told, until } = asking();
  answers = [
    priceOf(5, [{ code: 'vindicated', message: '1 inscription would have been cursed' }]),
    priceOf(9),
  ];
  pricing.ask(questionOf([itemOf(1), itemOf(2)], fields));
  await vi.advanceTimersByTimeAsync(500);
  await until(2);
  expect(sent.map(({ path, order }) => [path, order.uncurseIt])).toEqual([
    ['/price?plan=1', undefined],
    ['/price', true],
  ]);
  expect(told[1]).toMatchObject({ price: { amount: 5 }, uncursed: { amount: 9 } });
});

test('an unreadable file gives a message, and the service is not asked', async () => {
  const { pricing, told, until } = asking();
  const blob = { type: '', arrayBuffer: () => Promise.reject(new Error('gone')) } as unknown as Blob;
  pricing.ask(questionOf([{ kind: 'file', name: 'a.txt', size: 5, blob }], fields));
  await vi.advanceTimersByTimeAsync(500);
  await until(1);
  expect([told[0], sent]).toEqual([{ kind: 'refused', messages: [unreadable] }, []]);
});

test('small contents are sent for a price, larger ones only with their sizes', async () => {
  const { pricing, until } = asking();
  answers = [priceOf(5), priceOf(6)];
  pricing.ask(questionOf([itemOf(10)], fields));
  await vi.advanceTimersByTimeAsync(500);
  await until(1);
  pricing.ask(questionOf([itemOf(60_001)], fields));
  await vi.advanceTimersByTimeAsync(500);
  await until(2);
  expect(sent.map(({ order }) => order.files[0]!.dataURL !== undefined)).toEqual([true, false]);
});
