import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from '../clients.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { buyerAddress } from './buyers.ts';
import { agentFrom, type MintShop } from './mint-shop.ts';

const large = 'listed';
/** The collection for the baseline. It lists one address. */
const small = 'one-listed';
const idleQuestions = 500;
/**
 * Number of requests of each client, and the time between two requests in ms. 16 clients send 133 requests per second.
 */
const pacedQuestions = 60;
const paceMs = 120;

/** An HTTP agent for each client, each with a different IP address. */
const agents = Array.from({ length: clients }, (_, client) => agentFrom(client));

interface Allocations {
  readonly phases: readonly { readonly allocation: number }[];
}

/**
 * Measures how long buyers wait for their allocation, with a collection that lists many addresses and with one that
 * lists a single address. Half of the requests are about addresses that are not listed.
 */
export async function allocationFigures(shop: MintShop, addresses: number): Promise<Figure[]> {
  const createS = await listAddresses(shop, addresses);
  const figures: Figure[] = [{ name: 'listCreatedS', value: createS, unit: 's' }];
  const questions = {
    [large]: new Questions(shop, large, addresses),
    [small]: new Questions(shop, small, 1),
  };
  for (const asked of Object.values(questions)) for (let nth = 0; nth < clients; nth++) await asked.ask();
  const idle = { [large]: [] as number[], [small]: [] as number[] };
  for (let nth = 0; nth < idleQuestions; nth++)
    for (const name of [large, small] as const) idle[name].push(await questions[name].ask());
  const paced = { [small]: await questions[small].paced(), [large]: await questions[large].paced() };
  for (const [how, times] of [
    ['Idle', idle],
    [`Of${clients}`, paced],
  ] as const) {
    figures.push(
      { name: `allocationP50Ms${how}`, value: percentile(times[large], 0.5), unit: 'ms' },
      {
        name: `allocationP99Ms${how}`,
        value: percentile(times[large], 0.99),
        unit: 'ms',
        target: { most: 50 },
      },
      { name: `oneListedP50Ms${how}`, value: percentile(times[small], 0.5), unit: 'ms' },
      { name: `oneListedP99Ms${how}`, value: percentile(times[small], 0.99), unit: 'ms' },
    );
  }
  return figures;
}

/** Makes both collections. Returns how many seconds it took to send the long list over HTTP. */
async function listAddresses(shop: MintShop, addresses: number): Promise<number> {
  const phase = (first: number, last: number) => ({
    id: 'friends',
    isPublic: 0,
    allowList: Object.fromEntries(
      Array.from({ length: last - first }, (_, nth) => [buyerAddress(first + nth), { allocation: 2 }]),
    ) as object,
  });
  const body = (id: string, phases: object[]) => ({
    id,
    name: id,
    description: 'For friends',
    creator: 'Ada',
    totalCount: 10,
    phases,
  });
  await shop.made('/collection-create', body(small, [phase(0, 1)]));
  const long = body(large, [phase(0, addresses)]);
  const startedAt = performance.now();
  await shop.made('/collection-create', long);
  const createS = (performance.now() - startedAt) / 1000;
  // approves the collections without files, because no one buys here
  await shop.pool.query(
    `UPDATE service.mint_collections SET state = 'approved', decided_at = now(), client = NULL WHERE id = ANY($1)`,
    [[large, small]],
  );
  return createS;
}

/** Sends requests about one collection, alternately for a listed address and for another address. */
class Questions {
  readonly #shop: MintShop;
  readonly #id: string;
  readonly #listed: number;
  #asked = 0;

  constructor(shop: MintShop, id: string, listed: number) {
    this.#shop = shop;
    this.#id = id;
    this.#listed = listed;
  }

  /** Sends a request. Returns how long the response took, in ms. */
  async ask(): Promise<number> {
    const nth = this.#asked++;
    const isListed = nth % 2 === 0;
    const buyer = isListed ? (nth * 7919) % this.#listed : -1 - nth;
    const receiveAddress = buyerAddress(buyer);
    const startedAt = performance.now();
    const body = { id: this.#id, receiveAddress };
    const { phases } = await this.#shop.made<Allocations>('/getallocation', body, agents[nth % clients]);
    const took = performance.now() - startedAt;
    assert.deepEqual(
      phases.map(({ allocation }) => allocation),
      [isListed ? 2 : 0],
      `the allocation of buyer ${buyer}`,
    );
    return took;
  }

  /** Sends requests of several clients at a steady pace. Returns how long each response took, in ms. */
  async paced(): Promise<number[]> {
    const times: number[] = [];
    const startAt = performance.now();
    const client = async (place: number): Promise<void> => {
      for (let nth = 0; nth < pacedQuestions; nth++) {
        const dueAt = startAt + (place * paceMs) / clients + nth * paceMs;
        await sleep(Math.max(0, dueAt - performance.now()));
        times.push(await this.ask());
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, place) => client(place)));
    return times;
  }
}
