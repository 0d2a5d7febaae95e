import { type Random, seededRandom } from '#test/builders/random.ts';
import type { Input, Output } from '#test/builders/transaction.ts';

/** An input with what it spends, and the inscriptions there. */
export interface MarketInput extends Pick<Input, 'scriptSig' | 'witness'> {
  readonly spent: Output;
  /** Offsets of its inscriptions, ascending. */
  readonly items: readonly number[];
}

/** What the maker of the transaction says of a move; amounts and owners are null where nothing was sold. */
export interface MoveLabel {
  readonly class: string;
  readonly price: number | null;
  readonly grossPayout: number | null;
  /** Scripts as hexadecimal digits. */
  readonly maker: string | null;
  readonly taker: string | null;
}

export interface MarketTransaction {
  readonly kind: string;
  readonly inputs: readonly MarketInput[];
  readonly outputs: readonly Output[];
  /** Of its moves, by input and offset. */
  readonly labels: readonly MoveLabel[];
}

const pairType = 0x83;
const noBytes = new Uint8Array(0);
const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

/** A script that an owner can spend with one signature. */
type ScriptKind = 'taproot' | 'witness-key' | 'legacy-key';

/** Transactions of a market, one of each kind after the other: the same seed gives the same market. */
export class RandomMarket {
  readonly #random: Random;
  #at = 0;

  constructor(seed: string) {
    this.#random = seededRandom(`market ${seed}`);
  }

  next(): MarketTransaction {
    const kinds = Object.entries(this.#kinds);
    const [kind, make] = kinds[this.#at++ % kinds.length]!;
    return { kind, ...make() };
  }

  readonly #kinds: Readonly<Record<string, () => Omit<MarketTransaction, 'kind'>>> = {
    openordex: () => this.#openordex(this.#owner(), pairType),
    'openordex of a bundle': () => this.#openordex(this.#owner(), pairType, 2 + this.#random.below(5)),
    'two dummies': () => this.#twoDummies(this.#owner('taproot'), (owner) => this.#keyPath(owner, pairType)),
    'two dummies, signed with SINGLE': () =>
      this.#twoDummies(this.#owner('taproot'), (owner) => this.#keyPath(owner, 0x03)),
    'two dummies, ECDSA': () =>
      this.#twoDummies(this.#owner('witness-key'), (owner) => this.#keyPath(owner, pairType)),
    'two dummies, a legacy key': () =>
      this.#twoDummies(this.#owner('legacy-key'), (owner) => this.#keyPath(owner, pairType)),
    'two dummies, an annex': () =>
      this.#twoDummies(this.#owner('taproot'), (owner) => ({
        ...this.#keyPath(owner, pairType),
        witness: [this.#schnorr(pairType), this.#annex()],
      })),
    'paid at another address': () => {
      const seller = this.#owner('taproot');
      return this.#twoDummies(seller, () => this.#keyPath(seller, pairType), { payTo: this.#owner() });
    },
    'a protected listing': () => this.#sharedSale('taproot'),
    'a multisig': () => this.#sharedSale('witness-script'),
    bulk: () => this.#bulk(),
    'another layout': () => this.#otherLayout(),
    'a wash trade': () => {
      const seller = this.#owner('taproot');
      return this.#twoDummies(seller, () => this.#keyPath(seller, pairType), { buyTo: seller });
    },
    'signed with ALL|ANYONECANPAY': () => this.#allSigned(0x81, 'sale'),
    'an offer in any layout': () => this.#allSigned(0x01, 'offer'),
    'an offer of ord': () => this.#ordOffer(),
    'a self-transfer': () => this.#sentHome(0),
    'a top-up': () => this.#sentHome(20_000),
    'a consolidation of 30': () => this.#consolidated('self-transfer', (owner) => owner),
    'a deposit of 30 at a custodian': () => this.#consolidated('transfer', () => this.#owner()),
    'a gift of 546': () => this.#sent(546, 'gift'),
    'a gift of less': () => this.#sent(330, 'gift'),
    'a transfer': () => this.#sent(600 + this.#random.below(9_000), 'transfer'),
    'a lock': () => this.#sent(10_000, 'transfer', this.#taproot()),
    'a cancelled listing': () => this.#sent(10_000, 'transfer', this.#taproot()),
    'a payment of the holder': () => this.#paidByHolder(),
    'a script path of DEFAULT': () => this.#scriptPath(),
    'a Schnorr look-alike of a key hash': () => this.#lookAlike(),
    'a signature of the number 1': () => this.#signedOne(),
    'a CoinJoin': () => this.#coinJoin(),
    'deliveries of an order': () => this.#deliveries(),
    'a parent that comes back': () => this.#parentReturn(),
    'an exchange of items': () => this.#exchange(),
    'a sale for runes': () => this.#runeSwap(546, 0),
    'a sale of a small item for runes': () => this.#runeSwap(330, 0),
    'a listing for runes': () => this.#runeSwap(330, pairType),
    'a burn': () => this.#burn(),
    'an item that goes into the fee': () => this.#intoFee(),
  };

  #bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.#random.fill(bytes, 0, length);
    return bytes;
  }

  #taproot(): Uint8Array {
    return Buffer.concat([Buffer.from([0x51, 0x20]), this.#bytes(32)]);
  }

  /** A new owner's script. */
  #owner(kind?: ScriptKind): Uint8Array {
    const [taproot, witnessKey] = [0.6, 0.9];
    const drawn = this.#random.unit();
    const any = drawn < taproot ? 'taproot' : drawn < witnessKey ? 'witness-key' : 'legacy-key';
    const of = kind ?? any;
    if (of === 'taproot') return this.#taproot();
    if (of === 'witness-key') return Buffer.concat([Buffer.from([0x00, 0x14]), this.#bytes(20)]);
    return Buffer.concat([Buffer.from('76a914', 'hex'), this.#bytes(20), Buffer.from('88ac', 'hex')]);
  }

  #schnorr(sighash: number): Uint8Array {
    return sighash === 0 ? this.#bytes(64) : Buffer.concat([this.#bytes(64), Uint8Array.of(sighash)]);
  }

  /** DER of 70 to 73 bytes with the sighash type. */
  #ecdsa(sighash: number): Uint8Array {
    const r = this.#bytes(31 + this.#random.below(3));
    const s = this.#bytes(32 + this.#random.below(2));
    const body = [2, r.length, ...r, 2, s.length, ...s];
    return Uint8Array.of(0x30, body.length, ...body, sighash);
  }

  /** As long as a signature of SINGLE|ANYONECANPAY, and it ends like one. */
  #annex(): Uint8Array {
    return Buffer.concat([Uint8Array.of(0x50), this.#bytes(63), Uint8Array.of(pairType)]);
  }

  /** What one signature of a key shows. */
  #keyPath(script: Uint8Array, sighash: number): Pick<MarketInput, 'scriptSig' | 'witness'> {
    if (script[0] === 0x51) return { scriptSig: noBytes, witness: [this.#schnorr(sighash)] };
    const signature = this.#ecdsa(sighash === 0 ? 1 : sighash);
    const key = Buffer.concat([Uint8Array.of(2), this.#bytes(32)]);
    if (script[0] === 0x00) return { scriptSig: noBytes, witness: [signature, key] };
    const scriptSig = Uint8Array.of(signature.length, ...signature, key.length, ...key);
    return { scriptSig, witness: [] };
  }

  /** A coin without inscriptions that its owner signs. */
  #coin(script: Uint8Array, value: number): MarketInput {
    return { spent: { script, value }, items: [], ...this.#keyPath(script, 0) };
  }

  /** A coin with inscriptions at random offsets. */
  #item(
    script: Uint8Array,
    value: number,
    shown: Pick<MarketInput, 'scriptSig' | 'witness'>,
    count = 1,
  ): MarketInput {
    const offsets = Array.from({ length: count }, () => this.#random.below(value));
    return { spent: { script, value }, items: offsets.toSorted((a, b) => a - b), ...shown };
  }

  #unsold(of: string, count = 1): MoveLabel[] {
    const label = { class: of, price: null, grossPayout: null, maker: null, taker: null };
    return Array.from({ length: count }, () => label);
  }

  #price(): number {
    return 1_000 + this.#random.below(5_000_000);
  }

  #postage(): number {
    return [330, 546, 1_000, 10_000][this.#random.below(4)]!;
  }

  #openordex(seller: Uint8Array, sighash: number, count = 1): Omit<MarketTransaction, 'kind'> {
    const buyer = this.#owner();
    const payout = this.#price() + 1_000;
    const dummy = 600 + this.#random.below(401);
    const value = 10_000;
    const each = Math.floor(payout / count);
    return {
      inputs: [
        this.#coin(buyer, dummy),
        this.#item(seller, value, this.#keyPath(seller, sighash), count),
        this.#coin(buyer, payout + 20_000),
      ],
      outputs: [
        { script: buyer, value: dummy + value },
        { script: seller, value: payout },
        { script: buyer, value: 1_000 },
        { script: buyer, value: 15_000 },
      ],
      labels: Array.from({ length: count }, (_, place) => {
        const share = place === 0 ? payout - each * (count - 1) : each;
        return this.#sold('sale', share, share, seller, buyer);
      }),
    };
  }

  #sold(
    of: string,
    price: number,
    grossPayout: number,
    maker: Uint8Array,
    taker: Uint8Array | null,
  ): MoveLabel {
    return {
      class: of,
      price,
      grossPayout,
      maker: hexOf(maker),
      taker: taker === null ? null : hexOf(taker),
    };
  }

  #twoDummies(
    seller: Uint8Array,
    show: (owner: Uint8Array) => Pick<MarketInput, 'scriptSig' | 'witness'>,
    to: { readonly payTo?: Uint8Array; readonly buyTo?: Uint8Array; readonly maker?: Uint8Array } = {},
  ): Omit<MarketTransaction, 'kind'> {
    const payer = this.#owner();
    // receivers of items are often other addresses of the buyer
    const buyer = to.buyTo ?? (this.#random.unit() < 0.5 ? payer : this.#owner());
    const price = this.#price();
    const value = this.#postage();
    const dummy = 580 + this.#random.below(421);
    const fee = [0, 580, 581, 50_000][this.#random.below(4)]!;
    const fees = fee === 0 ? [] : [{ script: this.#owner(), value: fee }];
    return {
      inputs: [
        this.#coin(payer, dummy),
        this.#coin(payer, dummy),
        this.#item(seller, value, show(seller)),
        this.#coin(payer, price + 200_000),
      ],
      outputs: [
        { script: payer, value: 2 * dummy },
        { script: buyer, value },
        { script: to.payTo ?? seller, value: price + value },
        ...fees,
        { script: payer, value: 600 },
        { script: payer, value: 600 },
        { script: payer, value: 100_000 },
      ],
      labels: [this.#sold('sale', price, price + value, to.maker ?? seller, buyer)],
    };
  }

  /** Two signatures spend the item, and the one of who is paid binds the payout. */
  #sharedSale(by: 'taproot' | 'witness-script'): Omit<MarketTransaction, 'kind'> {
    const maker = this.#owner();
    if (by === 'taproot') {
      const witness = [
        this.#schnorr(0),
        this.#schnorr(pairType),
        this.#bytes(70),
        Buffer.concat([Uint8Array.of(0xc0), this.#bytes(32)]),
      ];
      const show = (): Pick<MarketInput, 'scriptSig' | 'witness'> => ({ scriptSig: noBytes, witness });
      return this.#twoDummies(this.#taproot(), show, { payTo: maker, maker });
    }
    const script = Buffer.concat([Buffer.from([0x00, 0x20]), this.#bytes(32)]);
    const witness = [noBytes, this.#ecdsa(pairType), this.#ecdsa(1), this.#bytes(105)];
    return this.#twoDummies(script, () => ({ scriptSig: noBytes, witness }), { payTo: maker, maker });
  }

  #bulk(): Omit<MarketTransaction, 'kind'> {
    const buyer = this.#owner();
    const count = 2 + this.#random.below(7);
    const sellers = Array.from({ length: count }, () => ({
      script: this.#owner(),
      value: this.#postage(),
      price: this.#price(),
    }));
    const total = sellers.reduce((sum, { price }) => sum + price, 0);
    return {
      inputs: [
        ...Array.from({ length: count + 1 }, () => this.#coin(buyer, 600)),
        ...sellers.map(({ script, value }) => this.#item(script, value, this.#keyPath(script, pairType))),
        this.#coin(buyer, total + 200_000),
      ],
      outputs: [
        { script: buyer, value: (count + 1) * 600 },
        ...sellers.map(({ value }) => ({ script: buyer, value })),
        ...sellers.map(({ script, value, price }) => ({ script, value: price + value })),
        { script: this.#owner(), value: 5_000 },
        { script: buyer, value: 50_000 },
      ],
      labels: sellers.map(({ script, value, price }) =>
        this.#sold('sale', price, price + value, script, buyer),
      ),
    };
  }

  /** The pair lies behind coins that are no dummies. */
  #otherLayout(): Omit<MarketTransaction, 'kind'> {
    const [seller, buyer] = [this.#owner(), this.#owner()];
    const price = this.#price();
    return {
      inputs: [
        this.#coin(buyer, 20_000),
        this.#coin(buyer, 5_000),
        this.#item(seller, 546, this.#keyPath(seller, pairType)),
        this.#coin(buyer, price + 20_000),
      ],
      outputs: [
        { script: buyer, value: 24_000 },
        { script: buyer, value: 1_546 },
        { script: seller, value: price + 546 },
        { script: buyer, value: 15_000 },
      ],
      labels: [this.#sold('sale', price, price + 546, seller, buyer)],
    };
  }

  #allSigned(sighash: number, of: string): Omit<MarketTransaction, 'kind'> {
    const [holder, buyer] = [this.#owner(), this.#owner()];
    const price = this.#price();
    return {
      inputs: [
        this.#coin(buyer, price + 10_000),
        this.#item(holder, 1_000, this.#keyPath(holder, sighash)),
        this.#coin(buyer, 10_000),
      ],
      outputs: [
        { script: holder, value: price + 1_000 },
        { script: buyer, value: 9_000 },
        { script: buyer, value: 1_000 },
        { script: buyer, value: 9_000 },
      ],
      labels: [this.#sold(of, price, price + 1_000, holder, buyer)],
    };
  }

  #ordOffer(): Omit<MarketTransaction, 'kind'> {
    const [holder, payer] = [this.#owner(), this.#owner()];
    const buyer = this.#random.unit() < 0.5 ? payer : this.#owner();
    const price = this.#price();
    const value = this.#postage();
    return {
      inputs: [
        this.#item(holder, value, this.#keyPath(holder, this.#random.below(2))),
        this.#coin(payer, price + value + 20_000),
      ],
      outputs: [
        { script: buyer, value },
        { script: holder, value: price + value },
        { script: this.#owner(), value: 15_000 },
      ],
      labels: [this.#sold('offer', price, price + value, holder, buyer)],
    };
  }

  #sentHome(more: number): Omit<MarketTransaction, 'kind'> {
    const [owner, wallet] = [this.#owner(), this.#owner()];
    return {
      inputs: [this.#item(owner, 10_000, this.#keyPath(owner, 0)), this.#coin(wallet, 50_000)],
      outputs: [
        { script: owner, value: 10_000 + more },
        { script: wallet, value: 49_000 - more },
      ],
      labels: this.#unsold('self-transfer'),
    };
  }

  #consolidated(of: string, toOf: (owner: Uint8Array) => Uint8Array): Omit<MarketTransaction, 'kind'> {
    const owner = this.#owner();
    const count = 30;
    return {
      inputs: Array.from({ length: count }, () => this.#item(owner, 546, this.#keyPath(owner, 0))),
      outputs: [{ script: toOf(owner), value: count * 546 }],
      labels: this.#unsold(of, count),
    };
  }

  /** To somebody else, with change for the wallet. */
  #sent(value: number, of: string, to = this.#owner()): Omit<MarketTransaction, 'kind'> {
    const [owner, wallet] = [this.#owner(), this.#owner()];
    return {
      inputs: [this.#item(owner, value, this.#keyPath(owner, 0)), this.#coin(wallet, 50_000)],
      outputs: [
        { script: to, value },
        { script: wallet, value: 49_000 },
      ],
      labels: this.#unsold(of),
    };
  }

  /** The holder sends, and gets change of the holder's own coins at the address that held the item. */
  #paidByHolder(): Omit<MarketTransaction, 'kind'> {
    const owner = this.#owner();
    return {
      inputs: [this.#item(owner, 10_000, this.#keyPath(owner, 0)), this.#coin(owner, 50_000)],
      outputs: [
        { script: this.#owner(), value: 10_000 },
        { script: owner, value: 49_000 },
      ],
      labels: this.#unsold('transfer'),
    };
  }

  /** Control block and leaf are as long as a signature of SINGLE|ANYONECANPAY, and end like one. */
  #scriptPath(): Omit<MarketTransaction, 'kind'> {
    const sent = this.#sent(10_000, 'transfer');
    const [item, ...others] = sent.inputs;
    const like = (): Uint8Array =>
      Buffer.concat([Uint8Array.of(0xc0), this.#bytes(63), Uint8Array.of(pairType)]);
    const witness = [this.#schnorr(0), like(), like()];
    const spent = { ...item!.spent, script: this.#taproot() };
    return { ...sent, inputs: [{ ...item!, spent, scriptSig: noBytes, witness }, ...others] };
  }

  #lookAlike(): Omit<MarketTransaction, 'kind'> {
    const sent = this.#sent(10_000, 'transfer');
    const [item, ...others] = sent.inputs;
    const script = this.#owner('witness-key');
    const witness = [this.#schnorr(pairType), this.#ecdsa(1), this.#bytes(33)];
    return {
      ...sent,
      inputs: [{ ...item!, spent: { ...item!.spent, script }, scriptSig: noBytes, witness }, ...others],
    };
  }

  /** A legacy signature of SINGLE whose output does not exist (BIP 143). */
  #signedOne(): Omit<MarketTransaction, 'kind'> {
    const [owner, payer] = [this.#owner('legacy-key'), this.#owner()];
    return {
      inputs: [this.#coin(payer, 600), this.#item(owner, 10_000, this.#keyPath(owner, pairType))],
      outputs: [{ script: this.#owner(), value: 10_600 }],
      labels: this.#unsold('transfer'),
    };
  }

  /** Equal outputs at new addresses and change for all, an inscribed coin among the first inputs. */
  #coinJoin(): Omit<MarketTransaction, 'kind'> {
    const owners = Array.from({ length: 5 }, () => this.#owner());
    const [first, ...others] = owners;
    return {
      inputs: [
        this.#item(first!, 90_000, this.#keyPath(first!, 0)),
        ...others.map((owner) => this.#coin(owner, 100_000 + this.#random.below(9_000))),
      ],
      outputs: [
        ...owners.map(() => ({ script: this.#owner(), value: 90_000 })),
        ...others.map((owner) => ({ script: owner, value: 9_000 })),
      ],
      labels: this.#unsold('transfer'),
    };
  }

  #deliveries(): Omit<MarketTransaction, 'kind'> {
    const service = this.#owner();
    const count = 2 + this.#random.below(6);
    return {
      inputs: [
        ...Array.from({ length: count }, () => this.#item(service, 546, this.#keyPath(service, 0))),
        this.#coin(service, 50_000),
      ],
      outputs: [
        ...Array.from({ length: count }, () => ({ script: this.#owner(), value: 546 })),
        { script: service, value: 45_000 },
      ],
      labels: this.#unsold('transfer', count),
    };
  }

  /** The customer's parent goes home, paid for by the service. */
  #parentReturn(): Omit<MarketTransaction, 'kind'> {
    const [customer, service] = [this.#owner(), this.#owner()];
    return {
      inputs: [this.#item(customer, 10_000, this.#keyPath(customer, 0)), this.#coin(service, 20_000)],
      outputs: [
        { script: customer, value: 10_000 },
        { script: this.#owner(), value: 546 },
        { script: service, value: 18_000 },
      ],
      labels: this.#unsold('self-transfer'),
    };
  }

  #exchange(): Omit<MarketTransaction, 'kind'> {
    const [one, two] = [this.#owner(), this.#owner()];
    return {
      inputs: [
        this.#item(one, 546, this.#keyPath(one, 0)),
        this.#item(two, 546, this.#keyPath(two, 0)),
        this.#coin(two, 20_000),
      ],
      outputs: [
        { script: two, value: 546 },
        { script: one, value: 546 },
        { script: two, value: 19_000 },
      ],
      labels: this.#unsold('other', 2),
    };
  }

  /** The output that pays holds runes, and the sats that it needs. */
  #runeSwap(value: number, sighash: number): Omit<MarketTransaction, 'kind'> {
    const [holder, payer] = [this.#owner(), this.#owner()];
    return {
      inputs: [
        this.#coin(payer, 546),
        this.#item(holder, value, this.#keyPath(holder, sighash)),
        this.#coin(payer, 20_000),
      ],
      outputs: [
        { script: payer, value: 546 + value },
        { script: holder, value: 546 },
        { script: Buffer.from('6a5d0100', 'hex'), value: 0 },
        { script: payer, value: 18_000 },
      ],
      labels: this.#unsold('other'),
    };
  }

  #burn(): Omit<MarketTransaction, 'kind'> {
    return this.#sent(10_000, 'burn', Buffer.concat([Uint8Array.of(0x6a, 8), this.#bytes(8)]));
  }

  #intoFee(): Omit<MarketTransaction, 'kind'> {
    const [owner, wallet] = [this.#owner(), this.#owner()];
    return {
      inputs: [this.#coin(wallet, 50_000), this.#item(owner, 546, this.#keyPath(owner, 0))],
      outputs: [{ script: wallet, value: 50_000 }],
      labels: this.#unsold('fee'),
    };
  }
}
