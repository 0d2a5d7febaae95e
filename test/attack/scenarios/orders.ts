import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

/**
 * A P2WPKH script that receives the inscriptions of orders. Orders to an invalid address would be refused before they
 * cost anything.
 */
const receiverScript = Uint8Array.of(0x00, 0x14, ...new Uint8Array(20).fill(7));
const filesMax = 10_000;
/** Maximum size of the contents of an order in bytes: the largest body without its other fields. */
const contentBytes = 48_000_000;

const dataUrl = (bytes: Uint8Array): string =>
  `data:text/plain;base64,${Buffer.from(bytes).toString('base64')}`;
const receiveAddress = scriptToAddress(receiverScript, networks.regtest);
const orderOf = (files: readonly object[]): object => ({ files, receiveAddress, fee: 5 });

const manyFiles = (): object =>
  orderOf(
    Array.from({ length: filesMax }, (_, index) => ({
      name: `${index}.txt`,
      size: 1,
      dataURL: dataUrl(Buffer.from(`${index}`)),
    })),
  );

/** An order with a content of 300 kB. This is the length of a content that the service compresses for its price. */
function textsToCompress(attack: Attack): object {
  const text = Array.from({ length: 28_000 }, () => attack.random.below(1_000_000_000)).join(' ');
  return {
    ...orderOf([{ name: 'a.txt', size: text.length, dataURL: dataUrl(Buffer.from(text)) }]),
    compress: true,
  };
}

const priceOf = (order: object, plan = ''): Uint8Array =>
  post(`/price${plan}`, JSON.stringify({ order, type: 'direct' }));

/** One of the IP addresses of the attacker's network. Each of them may make two orders in ten seconds. */
const addressOf = (place: number): string => `127.0.1.${1 + (place % 20)}`;

/** Orders whose delegate has 16 to 30 MB of unknown fields, in one text or in many. */
function junkOrders(attack: Attack): readonly Uint8Array[] {
  const [delegateId = ''] = attack.targets.ordinary;
  const junk = 'j'.repeat(30_000_000);
  const many = Array.from({ length: 200_000 }, (_, index) => `${index}`.padEnd(100, 'j'));
  return [{ junk }, { junk: [junk.slice(0, 8_000_000), { more: junk.slice(0, 8_000_000) }] }, { many }].map(
    (fields) => post('/inscribe', JSON.stringify({ ...orderOf([]), delegates: [{ delegateId, ...fields }] })),
  );
}

/** An order of 120 files of one byte, each with 360 kB of metadata. */
function metadataOrder(): Uint8Array {
  const metadataDataURL = `data:application/json;base64,${Buffer.from(JSON.stringify('m'.repeat(360_000))).toString('base64')}`;
  const files = Array.from({ length: 120 }, (_, index) => ({
    name: `${index}.txt`,
    size: 1,
    dataURL: dataUrl(Buffer.from('a')),
    metadataDataURL,
  }));
  return post('/inscribe', JSON.stringify(orderOf(files)));
}

/** Starts file servers that send a byte every half second until the attack ends. Returns their ports. */
async function drippingServers(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () =>
    createServer((_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 500);
      response.once('close', () => clearInterval(timer));
    }),
  );
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return servers.map((server) => (server.address() as AddressInfo).port);
}

/** Attacks with orders, up to orders that are stored and that no one pays. */
export const orderScenarios: readonly Scenario[] = [
  {
    name: 'prices-many',
    what: 'prices of 10,000 files with a plan, by ten clients',
    run: async (attack) => {
      const request = priceOf(manyFiles(), '?plan=1');
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
      const body = Buffer.from(JSON.stringify(orderOf([file])));
      const requests = [post('/inscribe', body, { 'idempotency-key': randomUUID() }), post('/price', body)];
      await attack.loops(6, async () => attack.exchange(pick(attack, requests)));
    },
  },
  {
    name: 'orders-junk',
    what: 'orders whose delegates have 16 to 30 MB of unknown fields, by six clients of 20 addresses',
    run: async (attack) => {
      const requests = junkOrders(attack);
      let place = 0;
      await attack.loops(6, async () =>
        attack.exchange(pick(attack, requests), { from: addressOf(place++) }),
      );
    },
  },
  {
    name: 'orders-metadata',
    what: 'orders of 120 files of one byte with 360 kB of metadata each, by four clients of 20 addresses',
    run: async (attack) => {
      const request = metadataOrder();
      let place = 0;
      await attack.loops(4, async () => attack.exchange(request, { from: addressOf(place++) }));
    },
  },
  {
    name: 'orders-dripping',
    what: 'orders with files at four servers that send two bytes a second, by 40 clients of 20 addresses',
    run: async (attack) => {
      const ports = await drippingServers(4);
      const files = Array.from({ length: 32 }, (_, index) => ({
        name: `${index}.txt`,
        size: 1,
        url: `http://127.0.0.1:${ports[index % ports.length]}/${index}`,
      }));
      const request = post('/inscribe', JSON.stringify(orderOf(files)));
      let place = 0;
      await attack.loops(40, async () => attack.exchange(request, { from: addressOf(place++) }));
    },
  },
  {
    name: 'orders-polled',
    what: 'unknown orders, their events, files and referrals, by 100 clients',
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
      const body = JSON.stringify(orderOf([{ name: 'a.txt', size: 1, dataURL: dataUrl(Buffer.from('a')) }]));
      await attack.loops(50, async () => {
        const headers = { 'idempotency-key': randomUUID() };
        await attack.exchange(post(pick(attack, ['/inscribe', '/referrals']), body, headers));
      });
    },
  },
];
