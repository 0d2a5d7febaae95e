import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { byClients, clients } from '../clients.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

const receiver = 900;
/** Number of rounds in which the paths take turns, so that other load on the machine affects both equally. */
const rounds = 3;

/** A path that creates orders, and how its client gets the address. */
interface Creation {
  readonly name: string;
  readonly url: string;
  /** Whether the client gets the address only by a read after the creation. */
  readonly isRead: boolean;
}

const creations: readonly Creation[] = [
  { name: 'direct', url: '/inscribe', isRead: true },
  { name: 'managed', url: '/order', isRead: false },
];

/**
 * Measures creations by 16 clients, with direct and managed orders in turns. Returns orders per second, and the time
 * from the request to the address. Direct orders are the baseline; their address needs an additional read.
 *
 * @param orders total number of orders for each path
 * @param suffix of the names of the figures
 */
export async function creationFigures(origin: string, orders: number, suffix = ''): Promise<Figure[]> {
  const times = new Map(creations.map(({ name }) => [name, [] as number[]]));
  const seconds = new Map(creations.map(({ name }) => [name, 0]));
  for (const creation of creations) await make(origin, creation, clients);
  for (let round = 0; round < rounds; round++) {
    for (const creation of creations) {
      const { name } = creation;
      const startedAt = performance.now();
      times.get(name)?.push(...(await make(origin, creation, Math.ceil(orders / rounds))));
      seconds.set(name, (seconds.get(name) ?? 0) + (performance.now() - startedAt) / 1000);
    }
  }
  return creations.flatMap(({ name }): Figure[] => {
    const made = times.get(name) ?? [];
    const isManaged = name === 'managed';
    return [
      {
        name: `${name}OrdersPerSecondOf${clients}${suffix}`,
        value: made.length / (seconds.get(name) ?? 1),
        unit: '/s',
        ...(isManaged ? { target: { least: 150 } } : {}),
      },
      {
        name: `${name}AddressP99MsOf${clients}${suffix}`,
        value: percentile(made, 0.99),
        unit: 'ms',
        ...(isManaged ? { target: { most: 300 } } : {}),
      },
    ];
  });
}

/** Creates orders. Returns the time from each creation to its address, in ms. */
const make = (origin: string, creation: Creation, orders: number): Promise<number[]> =>
  byClients(orders, async () => {
    await addressFrom(origin, creation);
  });

interface Created {
  readonly id: string;
  readonly charge: { readonly address?: string };
}

/** Creates an order of one file that no other order has. Returns the order's address. */
async function addressFrom(origin: string, { url, isRead }: Creation): Promise<string> {
  const content = Buffer.from(`file ${Math.random()}`).toString('base64');
  const answer = await fetch(`${origin}${url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      files: [{ name: 'a.txt', size: 20, dataURL: `data:text/plain;base64,${content}` }],
      receiveAddress: addressOf(receiver),
      fee: 2,
    }),
  });
  if (answer.status !== 200)
    throw new Error(`an order was answered ${answer.status}: ${await answer.text()}`);
  const created = (await answer.json()) as Created;
  const { charge } = isRead
    ? ((await (await fetch(`${origin}/order/${created.id}`)).json()) as Created)
    : created;
  if (charge.address === undefined) throw new Error(`order ${created.id} shows no address`);
  return charge.address;
}
