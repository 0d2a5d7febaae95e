import { Transaction } from '@scure/btc-signer';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import {
  burnScript,
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { type CustomerAddress, customerAddress, paymentTypes } from './customer-address.ts';
import { psbtApp } from './psbt-app.ts';
import { withoutRateWarning } from './rate-warnings.ts';
import { type SigningLibrary, signingLibraries } from './sign-psbt.ts';

/** A response of a builder of burns. */
export interface BurnAnswer {
  readonly psbtBase64: string;
  readonly psbtHex: string;
  readonly ordinalInputIndices?: readonly number[];
  readonly paymentInputIndices?: readonly number[];
  readonly runeInputs?: { readonly indices: readonly number[]; readonly address: string };
  readonly paymentInputs?: { readonly indices: readonly number[]; readonly address: string };
  readonly fee: number;
  readonly outputs: readonly { readonly value: number; readonly purpose: string }[];
  readonly warnings: readonly string[];
  readonly unproven: readonly string[];
  /** The message of a refusal. */
  readonly message?: string;
}

/** A customer's two addresses, and the library that signs for them. */
export interface BurningCustomer {
  readonly payment: CustomerAddress;
  readonly ordinals: CustomerAddress;
  readonly library: SigningLibrary;
}

/** An output with inscriptions. Ids are in the order of their sats. */
export interface InscribedOutput {
  readonly coin: Coin;
  /** `<txid>:<vout>` */
  readonly name: string;
  readonly ids: readonly string[];
}

/** A customer for each library and each type of payment address. */
export const burningCustomers: readonly BurningCustomer[] = paymentTypes.flatMap((type, index) =>
  signingLibraries.map((library, place) => {
    const owner = 200 + 10 * index + 2 * place;
    return { payment: customerAddress(owner, type), ordinals: customerAddress(owner + 1), library };
  }),
);

/** The customer of all cases that need only one. */
export const singleCustomer: BurningCustomer = {
  payment: customerAddress(310, 'p2wpkh'),
  ordinals: customerAddress(311),
  library: signingLibraries[0]!,
};

const stranger = 300;
const transfer = '{"p":"brc-20","op":"transfer","tick":"ordi","amt":"1"}';
/** How many sats each customer's output has before the inscribed sat. The output has 9,000 sats more than these. */
const offsets = [0, 100, 4_000, 329, 330, 9_999, 5_000, 1] as const;

const outputOf = (coin: Coin, ...ids: readonly string[]): InscribedOutput => ({
  coin,
  name: `${coin.txid}:${coin.vout}`,
  ids,
});

/** A chain with inscriptions to burn, its index including sats, and the builders. */
export class BurnWorld {
  readonly indexed: IndexedNode;
  readonly app: App;
  /** One output of 1,000 sats for each customer. The output begins with a BRC-20 transfer. */
  readonly transfers: readonly InscribedOutput[];
  /** One output for each customer, with an inscription after some of its sats. */
  readonly inscribed: readonly InscribedOutput[];
  readonly cases: Awaited<ReturnType<typeof addCases>>['outputs'];

  private constructor(parts: Pick<BurnWorld, 'indexed' | 'app' | 'transfers' | 'inscribed' | 'cases'>) {
    this.indexed = parts.indexed;
    this.app = parts.app;
    this.transfers = parts.transfers;
    this.inscribed = parts.inscribed;
    this.cases = parts.cases;
  }

  static async start(): Promise<BurnWorld> {
    const indexed = await startIndexedNode({ indexSats: true });
    const { chain } = indexed;
    const money = await commonCoins(chain, [
      ...burningCustomers.flatMap(({ payment }) =>
        [60_000, 50_000, 40_000].map((value) => ({ value, to: payment.owner, type: payment.type })),
      ),
      ...[70_000, 80_000].map((value) => ({
        value,
        to: singleCustomer.payment.owner,
        type: 'p2wpkh' as const,
      })),
    ]);
    const sources = await commonCoins(
      chain,
      Array.from({ length: 3 }, () => ({ value: 2_000_000 })),
    );
    const owners = burningCustomers.map(({ ordinals }) => ordinals.owner);
    const first = await inscribeAll(chain, sources.coin(1), 1_000, owners);
    const second = await inscribeAll(
      chain,
      sources.coin(2),
      10_000,
      owners.map(() => stranger),
    );
    const fillers = await commonCoins(
      chain,
      Array.from({ length: owners.length + 1 }, () => ({ value: 20_000, to: stranger })),
    );
    const moved = owners.map((owner, index) => {
      const offset = offsets[index % offsets.length] ?? 0;
      return transaction(
        [fillers.coin(1 + index), second.reveal.coin(index)],
        [
          { value: 20_000 - offset, to: stranger },
          { value: 9_000 + offset, to: owner },
        ],
      );
    });
    const cases = await addCases(chain, sources.coin(3), fillers.coin(owners.length + 1));
    await chain.mine([
      money,
      sources,
      fillers,
      ...first.transactions,
      ...second.transactions,
      ...moved,
      ...cases.transactions,
    ]);
    await indexed.atTip();
    const app = psbtApp(indexed);
    await app.ready();
    return new BurnWorld({
      indexed,
      app,
      transfers: owners.map((_, index) => outputOf(first.reveal.coin(index), first.reveal.id(index))),
      inscribed: moved.map((each, index) => outputOf(each.coin(1), second.reveal.id(index))),
      cases: cases.outputs,
    });
  }

  async ask(url: string, payload: object): Promise<{ status: number; body: BurnAnswer }> {
    const answer = await this.app.inject({ method: 'POST', url, payload });
    return { status: answer.statusCode, body: answer.json<BurnAnswer>() };
  }

  /** Returns a PSBT. Throws an error with the response if the response is not a PSBT. */
  async built(url: string, payload: object): Promise<BurnAnswer> {
    const { status, body } = await this.ask(url, payload);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return withoutRateWarning(body);
  }

  /**
   * Signs the inputs of a PSBT that the response names, and sends the transaction like a wallet. Returns the
   * transaction.
   */
  async send({ payment, ordinals, library }: BurningCustomer, made: BurnAnswer): Promise<Transaction> {
    const signed = library.sign(made.psbtBase64, [
      { by: ordinals, indices: made.ordinalInputIndices ?? made.runeInputs?.indices ?? [] },
      { by: payment, indices: made.paymentInputIndices ?? made.paymentInputs?.indices ?? [] },
    ]);
    const hex = library.finalize(signed);
    // the node's default limits, except that sats may be burned on purpose
    await this.indexed.bitcoind.rpc.call<TxidHex>('sendrawtransaction', [hex, '0.10', '0.001']);
    return Transaction.fromRaw(Buffer.from(hex, 'hex'), { allowUnknownOutputs: true });
  }

  async mine(): Promise<void> {
    await this.indexed.chain.mineMempool();
    await this.indexed.atTip();
  }

  /** Charms and satpoint of an inscription, from the index. */
  async placeOf(id: string): Promise<{ readonly charms: readonly string[]; readonly satpoint: string }> {
    const answer = await this.app.inject({
      url: `/inscription/${id}`,
      headers: { accept: 'application/json' },
    });
    return answer.json();
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.indexed.close();
  }
}

/** Makes outputs from a coinbase. They do not have the coinbase's first sat, which is special. */
async function commonCoins(chain: RegtestChain, outputs: readonly NewOutput[]): Promise<RegtestTransaction> {
  const coin = await chain.coin();
  const spent = outputs.reduce((sum, { value }) => sum + value, 60_000);
  return transaction([coin], [{ value: 10_000 }, ...outputs, { value: coin.value - spent }]);
}

/** Inscribes a BRC-20 transfer at the start of an output of each owner, with one reveal. */
function inscribeAll(chain: RegtestChain, from: Coin, value: number, owners: readonly number[]) {
  const contents = owners.map((_, index) => ({
    contentType: 'text/plain',
    body: transfer,
    pointer: index * value,
  }));
  return chain.inscribe(contents, { from, payments: owners.map((to) => ({ value, to })) });
}

async function addCases(chain: RegtestChain, from: Coin, filler: Coin) {
  const to = singleCustomer.ordinals.owner;
  const { reveal, transactions } = await inscribeAll(
    chain,
    from,
    10_000,
    Array.from({ length: 8 }, () => stranger),
  );
  const moved = (index: number): RegtestTransaction =>
    transaction([reveal.coin(index)], [{ value: 9_000, to }]);
  const runic = transaction(
    [reveal.coin(0)],
    [
      { value: 9_000, to },
      { value: 0, outputScript: premined(1_000) },
    ],
  );
  const runicLater = transaction(
    [filler, reveal.coin(1)],
    [
      { value: 19_900, to: stranger },
      { value: 9_000, to },
      { value: 0, outputScript: premined(1_000, 1) },
    ],
  );
  const both = transaction([reveal.coin(2), reveal.coin(3)], [{ value: 19_000, to }]);
  const [plain, spent, kept] = [moved(4), moved(5), moved(7)] as const;
  const gone = transaction([reveal.coin(6)], [{ value: 1, outputScript: burnScript }, { value: 9_000 }]);
  return {
    transactions: [...transactions, runic, runicLater, both, plain, spent, gone, kept],
    outputs: {
      /** The output has runes and begins with an inscription that was moved. */
      runic: outputOf(runic.coin(0), reveal.id(0)),
      /** An output with runes and an inscription after 100 sats. */
      runicLater: outputOf(runicLater.coin(1), reveal.id(1)),
      both: outputOf(both.coin(0), reveal.id(2), reveal.id(3)),
      plain: outputOf(plain.coin(0), reveal.id(4)),
      spent: outputOf(spent.coin(0), reveal.id(5)),
      /** An output that a burn has spent. */
      gone: outputOf(reveal.coin(6), reveal.id(6)),
      kept: outputOf(kept.coin(0), reveal.id(7)),
      /** An output of someone else. */
      foreign: outputOf(runicLater.coin(0)),
    },
  };
}
