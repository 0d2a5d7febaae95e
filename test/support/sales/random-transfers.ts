import { type MadeTransaction, type MarketCoins, noBytes, pairType } from './market-coins.ts';

/** Makes moves of a random market that are not sales. */
export class RandomTransfers {
  readonly #coins: MarketCoins;

  constructor(coins: MarketCoins) {
    this.#coins = coins;
  }

  readonly kinds: Readonly<Record<string, () => MadeTransaction>> = {
    'a transfer that lets others pay': () => this.#sponsored(),
    'a self-transfer': () => this.#sentHome(0),
    'a top-up': () => this.#sentHome(20_000),
    'a consolidation of 30': () => this.#consolidated('self-transfer', (owner) => owner),
    'a deposit of 30 at a custodian': () => this.#consolidated('transfer', () => this.#coins.owner()),
    'a gift of 546': () => this.#sent(546, 'gift'),
    'a gift of less': () => this.#sent(330, 'gift'),
    'a transfer': () => this.#sent(600 + this.#coins.random.below(9_000), 'transfer'),
    'a lock': () => this.#sent(10_000, 'transfer', this.#coins.taproot()),
    'a cancelled listing': () => this.#sent(10_000, 'transfer', this.#coins.taproot()),
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
    'a listing for runes at another address': () => this.#runeSwap(330, pairType, this.#coins.owner()),
    'a burn': () => this.#burn(),
    'an item that becomes part of the fee': () => this.#intoFee(),
  };

  #sentHome(more: number): MadeTransaction {
    const [owner, wallet] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.item(owner, 10_000, this.#coins.keyPath(owner, 0)),
        this.#coins.coin(wallet, 50_000),
      ],
      outputs: [
        { script: owner, value: 10_000 + more },
        { script: wallet, value: 49_000 - more },
      ],
      labels: this.#coins.unsold('self-transfer'),
    };
  }

  #consolidated(of: string, toOf: (owner: Uint8Array) => Uint8Array): MadeTransaction {
    const owner = this.#coins.owner();
    const count = 30;
    return {
      inputs: Array.from({ length: count }, () =>
        this.#coins.item(owner, 546, this.#coins.keyPath(owner, 0)),
      ),
      outputs: [{ script: toOf(owner), value: count * 546 }],
      labels: this.#coins.unsold(of, count),
    };
  }

  /** Moves an item to someone else. The wallet gets change. */
  #sent(value: number, of: string, to = this.#coins.owner()): MadeTransaction {
    const [owner, wallet] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.item(owner, value, this.#coins.keyPath(owner, 0)),
        this.#coins.coin(wallet, 50_000),
      ],
      outputs: [
        { script: to, value },
        { script: wallet, value: 49_000 },
      ],
      labels: this.#coins.unsold(of),
    };
  }

  /** A transfer whose fee someone else pays, who gets change at a new address. */
  #sponsored(): MadeTransaction {
    const sent = this.#sent(10_000, 'transfer');
    const [item, coin] = sent.inputs;
    const listed = { ...item!, ...this.#coins.keyPath(item!.spent.script, 0x81) };
    const change = { script: this.#coins.owner(), value: 45_000 };
    return { ...sent, inputs: [listed, coin!], outputs: [sent.outputs[0]!, change] };
  }

  /** A transfer by the holder. Change of the holder's own coins returns to the address that held the item. */
  #paidByHolder(): MadeTransaction {
    const owner = this.#coins.owner();
    return {
      inputs: [
        this.#coins.item(owner, 10_000, this.#coins.keyPath(owner, 0)),
        this.#coins.coin(owner, 50_000),
      ],
      outputs: [
        { script: this.#coins.owner(), value: 10_000 },
        { script: owner, value: 49_000 },
      ],
      labels: this.#coins.unsold('transfer'),
    };
  }

  /**
   * A script path whose control block and leaf have the length and the last byte of a SINGLE|ANYONECANPAY signature.
   */
  #scriptPath(): MadeTransaction {
    const sent = this.#sent(10_000, 'transfer');
    const [item, ...others] = sent.inputs;
    const like = (): Uint8Array =>
      Buffer.concat([Uint8Array.of(0xc0), this.#coins.bytes(63), Uint8Array.of(pairType)]);
    const witness = [this.#coins.schnorr(0), like(), like()];
    const spent = { ...item!.spent, script: this.#coins.taproot() };
    return { ...sent, inputs: [{ ...item!, spent, scriptSig: noBytes, witness }, ...others] };
  }

  #lookAlike(): MadeTransaction {
    const sent = this.#sent(10_000, 'transfer');
    const [item, ...others] = sent.inputs;
    const script = this.#coins.owner('witness-key');
    const witness = [this.#coins.schnorr(pairType), this.#coins.ecdsa(1), this.#coins.bytes(33)];
    return {
      ...sent,
      inputs: [{ ...item!, spent: { ...item!.spent, script }, scriptSig: noBytes, witness }, ...others],
    };
  }

  /** A legacy SINGLE signature for an output that does not exist (BIP 143). */
  #signedOne(): MadeTransaction {
    const [owner, payer] = [this.#coins.owner('legacy-key'), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.coin(payer, 600),
        this.#coins.item(owner, 10_000, this.#coins.keyPath(owner, pairType)),
      ],
      outputs: [{ script: this.#coins.owner(), value: 10_600 }],
      labels: this.#coins.unsold('transfer'),
    };
  }

  /** Equal outputs at new addresses, and change for all owners. One of the first inputs is an inscribed coin. */
  #coinJoin(): MadeTransaction {
    const owners = Array.from({ length: 5 }, () => this.#coins.owner());
    const [first, ...others] = owners;
    return {
      inputs: [
        this.#coins.item(first!, 90_000, this.#coins.keyPath(first!, 0)),
        ...others.map((owner) => this.#coins.coin(owner, 100_000 + this.#coins.random.below(9_000))),
      ],
      outputs: [
        ...owners.map(() => ({ script: this.#coins.owner(), value: 90_000 })),
        ...others.map((owner) => ({ script: owner, value: 9_000 })),
      ],
      labels: this.#coins.unsold('transfer'),
    };
  }

  #deliveries(): MadeTransaction {
    const service = this.#coins.owner();
    const count = 2 + this.#coins.random.below(6);
    return {
      inputs: [
        ...Array.from({ length: count }, () =>
          this.#coins.item(service, 546, this.#coins.keyPath(service, 0)),
        ),
        this.#coins.coin(service, 50_000),
      ],
      outputs: [
        ...Array.from({ length: count }, () => ({ script: this.#coins.owner(), value: 546 })),
        { script: service, value: 45_000 },
      ],
      labels: this.#coins.unsold('transfer', count),
    };
  }

  /** The service pays for the return of a customer's parent. */
  #parentReturn(): MadeTransaction {
    const [customer, service] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.item(customer, 10_000, this.#coins.keyPath(customer, 0)),
        this.#coins.coin(service, 20_000),
      ],
      outputs: [
        { script: customer, value: 10_000 },
        { script: this.#coins.owner(), value: 546 },
        { script: service, value: 18_000 },
      ],
      labels: this.#coins.unsold('self-transfer'),
    };
  }

  #exchange(): MadeTransaction {
    const [one, two] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.item(one, 546, this.#coins.keyPath(one, 0)),
        this.#coins.item(two, 546, this.#coins.keyPath(two, 0)),
        this.#coins.coin(two, 20_000),
      ],
      outputs: [
        { script: two, value: 546 },
        { script: one, value: 546 },
        { script: two, value: 19_000 },
      ],
      labels: this.#coins.unsold('other', 2),
    };
  }

  /** The output that pays the holder contains runes, and only the sats that these need. */
  #runeSwap(value: number, sighash: number, payTo?: Uint8Array): MadeTransaction {
    const [holder, payer] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [
        this.#coins.coin(payer, 546),
        this.#coins.item(holder, value, this.#coins.keyPath(holder, sighash)),
        this.#coins.coin(payer, 20_000),
      ],
      outputs: [
        { script: payer, value: 546 + value },
        { script: payTo ?? holder, value: 546 },
        { script: Buffer.from('6a5d0100', 'hex'), value: 0 },
        { script: payer, value: 18_000 },
      ],
      labels: this.#coins.unsold('other'),
    };
  }

  #burn(): MadeTransaction {
    return this.#sent(10_000, 'burn', Buffer.concat([Uint8Array.of(0x6a, 8), this.#coins.bytes(8)]));
  }

  #intoFee(): MadeTransaction {
    const [owner, wallet] = [this.#coins.owner(), this.#coins.owner()];
    return {
      inputs: [this.#coins.coin(wallet, 50_000), this.#coins.item(owner, 546, this.#coins.keyPath(owner, 0))],
      outputs: [{ script: wallet, value: 50_000 }],
      labels: this.#coins.unsold('fee'),
    };
  }
}
