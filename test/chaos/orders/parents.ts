import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { Coin } from '#test/builders/regtest/regtest-transaction.ts';

/** An inscription that its owner lends to an order, and the output that holds it. */
export interface LentParent {
  readonly id: string;
  readonly coin: Coin;
}

const parentSats = 10_000;
const owner = 19_999;

/** Makes inscriptions of customers. Each inscription is for one order. */
export async function inscribeParents(chain: RegtestChain, count: number): Promise<LentParent[]> {
  const made = [];
  for (let number = 0; number < count; number++)
    made.push(await chain.inscribe(textOf(number), { postage: parentSats, to: owner }));
  await chain.mine(made.flatMap(({ transactions }) => transactions));
  return made.map(({ reveal }) => ({ id: reveal.id(), coin: reveal.coin(0) }));
}

const textOf = (number: number) => ({ contentType: 'text/plain', body: `parent ${number}` });
