import { createHash } from 'node:crypto';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { HeldOutput } from '#tokenpay/audit/held-outputs.queries.ts';
import type { OutputOutcome } from '#tokenpay/audit/rune-parts.queries.ts';
import { type AccountLiabilities, accountLiabilities } from './account-liabilities.ts';
import { type AssetParts, assetParts } from './asset-parts.ts';
import type { ReserveFacts } from './read-facts.ts';

/** An output in the form that pages show. Its proof is added after the document is complete. */
export interface ShownOutput {
  readonly output: string;
  readonly address: string;
  readonly sats: number;
  readonly outcome: OutputOutcome;
  readonly runes: readonly { readonly asset: string; readonly amount: string }[];
}

/** The reserves at one block, before they are signed. */
export interface BuiltReserves {
  /** The exact text of the document. It must not change, because signatures cover its bytes. */
  readonly document: string;
  /** SHA-256 hash of the text. */
  readonly hash: Buffer;
  /** Outputs in the order of the pages, with the data that proves their addresses. */
  readonly outputs: readonly { readonly shown: ShownOutput; readonly held: HeldOutput }[];
  readonly accounts: readonly AccountLiabilities[];
}

/** Maximum number of outputs per page. 100 outputs with their proofs have 60 kB. */
export const pageOutputs = 100;

/**
 * Builds the document of a block, with the trees of its liabilities. Each asset and each page has its own turn of the
 * event loop. Other requests then wait at most a tenth of a second if 1,000 accounts hold one asset.
 */
export async function buildReserves(
  facts: ReserveFacts,
  network: NetworkName,
  madeAt: Date,
): Promise<BuiltReserves> {
  const parts = assetParts(facts);
  const { accounts, roots } = await accountLiabilities(facts.balances, parts);
  const outputs = await shownOutputs(facts);
  const document = JSON.stringify({
    network,
    block: { height: facts.block.height, hash: displayHash(facts.block.hash) },
    madeAt: madeAt.toISOString(),
    assets: parts.map((part) => shownParts(part, roots.get(part.asset) ?? null)),
    outputs: {
      count: outputs.length,
      addresses: new Set(outputs.map(({ shown }) => shown.address)).size,
      pages: Math.ceil(outputs.length / pageOutputs),
      sha256: sha256(outputs.map(({ shown }) => outputLine(shown)).join('\n')).toString('hex'),
    },
  });
  return { document, hash: sha256(document), outputs, accounts };
}

/** The text that the wallet signs for each address. */
export const proofMessage = (blockHash: string, documentHash: string): string =>
  `Satscribe reserves of block ${blockHash}: ${documentHash}`;

function shownParts(parts: AssetParts, root: string | null): object {
  const { asset, token, divisibility, liabilities, debts, fees, aside, waiting, held } = parts;
  return {
    asset,
    token,
    divisibility,
    liabilities: String(liabilities),
    debts: String(debts),
    fees: String(fees),
    aside: String(aside),
    waiting: String(waiting),
    held: String(held),
    difference: String(held - (liabilities - debts + fees + aside + waiting)),
    liabilitiesRoot: root,
  };
}

/** The line of an output in the hashed part of the document. */
const outputLine = ({ output, address, sats, outcome, runes }: ShownOutput): string =>
  [output, address, sats, outcome, ...runes.map(({ asset, amount }) => `${asset}:${amount}`)].join(' ');

async function shownOutputs({ outputs, heldRunes }: ReserveFacts): Promise<BuiltReserves['outputs']> {
  const runesOf = Map.groupBy(heldRunes, outpointOf);
  const made: { shown: ShownOutput; held: HeldOutput }[] = [];
  for (const [place, held] of outputs.entries()) {
    if (place % pageOutputs === 0) await nextTurn();
    const output = outpointOf(held);
    const runes = (runesOf.get(output) ?? [])
      .map(({ etching, amount }) => ({ asset: displayHash(etching) as string, amount: String(amount) }))
      .toSorted((a, b) => (a.asset < b.asset ? -1 : 1));
    const { address, sats, outcome } = held;
    made.push({ held, shown: { output, address, sats: Number(sats), outcome, runes } });
  }
  return made.toSorted((a, b) => (a.shown.output < b.shown.output ? -1 : 1));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
