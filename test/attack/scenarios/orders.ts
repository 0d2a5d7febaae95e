import { randomUUID } from 'node:crypto';
import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

const filesMax = 10_000;
/** Bytes of the largest body of an order, less its fields. */
const contentBytes = 48_000_000;

const dataUrl = (bytes: Uint8Array): string =>
  `data:text/plain;base64,${Buffer.from(bytes).toString('base64')}`;
const orderOf = ({ targets }: Pick<Attack, 'targets'>, files: readonly object[]): object => ({
  files,
  receiveAddress: targets.hoard.address,
  fee: 5,
});

const manyFiles = (attack: Attack): object =>
  orderOf(
    attack,
    Array.from({ length: filesMax }, (_, index) => ({
      name: `${index}.txt`,
      size: 1,
      dataURL: dataUrl(Buffer.from(`${index}`)),
    })),
  );

/** A content of 300 kB: as long as one that is compressed for its price. */
function textsToCompress(attack: Attack): object {
  const text = Array.from({ length: 28_000 }, () => attack.random.below(1_000_000_000)).join(' ');
  return {
    ...orderOf(attack, [{ name: 'a.txt', size: text.length, dataURL: dataUrl(Buffer.from(text)) }]),
    compress: true,
  };
}

const priceOf = (order: object, plan = ''): Uint8Array =>
  post(`/price${plan}`, JSON.stringify({ order, type: 'direct' }));

/** Of a service without a wallet: everything up to the moment when an order would be stored. */
export const orderScenarios: readonly Scenario[] = [
  {
    name: 'prices-many',
    what: 'prices of 10,000 files with a plan, by ten clients',
    run: async (attack) => {
      const request = priceOf(manyFiles(attack), '?plan=1');
      await attack.loops(10, async () => attack.exchange(request));
    },
  },
  {
    name: 'prices-compressed',
    what: 'prices of contents that are compressed for it, half of them reset within 50 ms, by 30 clients',
    run: async (attack) => {
      const requests = Array.from({ length: 5 }, () => priceOf(textsToCompress(attack), '?plan=1'));
      await attack.loops(30, async () => {
        const abort = attack.random.below(2) === 0 ? { abortAfterMs: attack.random.below(50) } : {};
        await attack.exchange(pick(attack, requests), abort);
      });
    },
  },
  {
    name: 'orders-large',
    what: 'orders of 64 MB in a body, by six clients',
    run: async (attack) => {
      const file = { name: 'a.txt', size: contentBytes, dataURL: dataUrl(Buffer.alloc(contentBytes, 'a')) };
      const body = Buffer.from(JSON.stringify(orderOf(attack, [file])));
      const requests = [post('/inscribe', body, { 'idempotency-key': randomUUID() }), post('/price', body)];
      await attack.loops(6, async () => attack.exchange(pick(attack, requests)));
    },
  },
  {
    name: 'orders-polled',
    what: 'orders, their events, files and referrals that nobody has, by 100 clients',
    run: (attack) =>
      attack.loops(100, async () => {
        const id = randomUUID();
        const paths = [
          `/order?id=${id}`,
          `/order/${id}`,
          `/order/events?id=${id}&after=1`,
          `/files/${id}_a.txt`,
          `/referrals?referral=${id}&address=${attack.targets.hoard.address}`,
        ];
        await attack.exchange(get(pick(attack, paths), { ...json, range: 'bytes=0-0' }));
      }),
  },
  {
    name: 'orders-keyed',
    what: 'creations with ever new Idempotency-Keys, refused ones too, by 50 clients',
    run: async (attack) => {
      const body = JSON.stringify(
        orderOf(attack, [{ name: 'a.txt', size: 1, dataURL: dataUrl(Buffer.from('a')) }]),
      );
      await attack.loops(50, async () => {
        const headers = { 'idempotency-key': randomUUID() };
        await attack.exchange(post(pick(attack, ['/inscribe', '/referrals']), body, headers));
      });
    },
  },
];
