import {
  type MadeTransaction,
  type MarketCoins,
  type MarketInput,
  noBytes,
  pairType,
} from './market-coins.ts';

/** Owners in a purchase. Default: new owners. */
interface Parties {
  readonly payTo?: Uint8Array;
  readonly buyTo?: Uint8Array;
  readonly maker?: Uint8Array;
  /** The seller, if the seller's own coins pay. This is a wash trade. */
  readonly payer?: Uint8Array;
  readonly fee?: number;
}

/** Makes purchases and offers of a random market, and transactions that only look like them. */
export class RandomPurchases {
  readonly #coins: MarketCoins;

  constructor(coins: MarketCoins) {
    this.#coins = coins;
  }

  readonly kinds: Readonly<Record<string, () => MadeTransaction>> = {
    openordex: () => this.#openordex(this.#coins.owner(), pairType),
    'openordex of a bundle': () =>
      this.#openordex(this.#coins.owner(), pairType, 2 + this.#coins.random.below(5)),
    'two dummies': () =>
      this.#twoDummies(this.#coins.owner('taproot'), (owner) => this.#coins.keyPath(owner, pairType)),
    'two dummies, signed with SINGLE': () =>
      this.#twoDummies(this.#coins.owner('taproot'), (owner) => this.#coins.keyPath(owner, 0x03)),
    'two dummies, ECDSA': () =>
      this.#twoDummies(this.#coins.owner('witness-key'), (owner) => this.#coins.keyPath(owner, pairType)),
    'two dummies, a legacy key': () =>
      this.#twoDummies(this.#coins.owner('legacy-key'), (owner) => this.#coins.keyPath(owner, pairType)),
    'two dummies, an annex': () =>
      this.#twoDummies(this.#coins.owner('taproot'), (owner) => ({
        ...this.#coins.keyPath(owner, pairType),
        witness: [this.#coins.schnorr(pairType), this.#coins.annex()],
      })),
    'paid at another address': () => {
      const seller = this.#coins.owner('taproot');
      return this.#twoDummies(seller, () => this.#coins.keyPath(seller, pairType), {
        payTo: this.#coins.owner(),
      });
    },
    'a protected listing': () => this.#sharedSale('taproot'),
    'a multisig': () => this.#sharedSale('witness-script'),
    bulk: () => this.#bulk(),
    'another layout': () => this.#otherLayout(),
    'a wash trade': () => {
      const seller = this.#coins.owner('taproot');
      return this.#twoDummies(seller, () => this.#coins.keyPath(seller, pairType), { buyTo: seller });
    },
    'a wash trade that the paid address pays for': () => this.#ownPurchase('payee'),
    'a wash trade that the address of the item pays for': () => this.#ownPurchase('seller'),
    'a purchase with change at a new address': () => this.#newChange(),
    'a purchase with dummies and change at a new address': () => this.#newDummies(),
    'signed with ALL|ANYONECANPAY': () => this.#allSigned(0x81, 'sale'),
    'ALL|ANYONECANPAY after two dummies': () => this.#listedAll(this.#coins.owner()),
    'ALL|ANYONECANPAY, paid at another address': () =>
      this.#listedAll(this.#coins.owner(), { payTo: this.#coins.owner() }),
    'ALL|ANYONECANPAY by two keys': () => this.#sharedAll(),
    'an offer in the layout of a purchase': () => this.#listedAll(this.#coins.owner(), { sighash: 0x01 }),
    'a purchase that is signed with NONE|ANYONECANPAY': () => this.#unboundPurchase(),
    'an offer in any layout': () => this.#allSigned(0x01, 'offer'),
    'an offer of ord': () => this.#ordOffer(),
  };

  #openordex(seller: Uint8Array, sighash: number, count = 1): MadeTransaction {
    const buyer = this.#coins.owner();
    const payout = this.#coins.price() + 1_000;
    const dummy = 600 + this.#coins.random.below(401);
    const value = 10_000;
    const each = Math.floor(payout / count);
    return {
      inputs: [
        this.#coins.coin(buyer, dummy),
        this.#coins.item(seller, value, this.#coins.keyPath(seller, sighash), count),
        this.#coins.coin(buyer, payout + 20_000),
      ],
      outputs: [
        { script: buyer, value: dummy + value },
        { script: seller, value: payout },
        { script: buyer, value: 1_000 },
        { script: buyer, value: 15_000 },
      ],
      labels: Array.from({ length: count }, (_, place) => {
        const share = place === 0 ? payout - each * (count - 1) : each;
        return this.#coins.sold('sale', share, share, seller, buyer);
      }),
    };
  }

  #twoDummies(
    seller: Uint8Array,
    show: (owner: Uint8Array) => Pick<MarketInput, 'scriptSig' | 'witness'>,
    to: Parties = {},
  ): MadeTransaction {
    const payer = to.payer ?? this.#coins.owner();
    // the receiver of an item is often another address of the buyer
    const buyer = to.buyTo ?? (this.#coins.random.unit() < 0.5 ? payer : this.#coins.owner());
    const price = this.#coins.price();
    const value = this.#coins.postage();
    const dummy = 580 + this.#coins.random.below(421);
    const fee =
      to.fee ??
      [0, 580, 581, Math.floor(price / 40), Math.floor(price / 4), price][this.#coins.random.below(6)]!;
    const fees = fee === 0 ? [] : [{ script: this.#coins.owner(), value: fee }];
    return {
      inputs: [
        this.#coins.coin(payer, dummy),
        this.#coins.coin(payer, dummy),
        this.#coins.item(seller, value, show(seller)),
        this.#coins.coin(payer, price + fee + 200_000),
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
      labels: [
        this.#coins.sold('sale', price, price + value, to.maker ?? seller, buyer, {
          feeOutput: fee >= 581 && fee * 4 <= price ? 3 : null,
          ...(to.payer === undefined ? {} : { wash: true }),
        }),
      ],
    };
  }

  /** Coins of the seller pay, and an address without a link to the seller gets the item. */
  #ownPurchase(by: 'payee' | 'seller'): MadeTransaction {
    const [seller, payee] = [this.#coins.owner(), this.#coins.owner()];
    const payer = by === 'payee' ? payee : seller;
    return this.#twoDummies(seller, () => this.#coins.keyPath(seller, pairType), {
      payTo: payee,
      payer,
      buyTo: this.#coins.owner(),
    });
  }

  /** After the pair comes the buyer's change. It has any size, and the last change is more than a dummy. */
  #newChange(): MadeTransaction {
    const seller = this.#coins.owner();
    const bought = this.#twoDummies(seller, () => this.#coins.keyPath(seller, pairType), { fee: 0 });
    const change = { script: this.#coins.owner(), value: 1_000 + this.#coins.random.below(150_000) };
    const dummies = bought.outputs.slice(3, 3 + 2 * this.#coins.random.below(2));
    return { ...bought, outputs: [...bought.outputs.slice(0, 3), change, ...dummies] };
  }

  /** All outputs of the buyer go to one new address. */
  #newDummies(): MadeTransaction {
    const seller = this.#coins.owner();
    const bought = this.#twoDummies(seller, () => this.#coins.keyPath(seller, pairType), { fee: 0 });
    const script = this.#coins.owner();
    const back = bought.outputs.slice(3).map(({ value }) => ({ script, value }));
    return { ...bought, outputs: [...bought.outputs.slice(0, 3), ...back] };
  }

  /** A listing that binds all outputs. Its item goes to an address of the buyer whose coins pay nothing. */
  #listedAll(
    seller: Uint8Array,
    { payTo = seller, sighash = 0x81 }: { readonly payTo?: Uint8Array; readonly sighash?: number } = {},
  ): MadeTransaction {
    const show = (): Pick<MarketInput, 'scriptSig' | 'witness'> => this.#coins.keyPath(seller, sighash);
    const sold = this.#twoDummies(seller, show, { payTo, buyTo: this.#coins.owner(), fee: 5_000 });
    const of = sighash === 0x81 ? 'sale' : 'offer';
    return { ...sold, labels: sold.labels.map((label) => ({ ...label, class: of, feeOutput: null })) };
  }

  #sharedAll(): MadeTransaction {
    const maker = this.#coins.owner();
    const script = Buffer.concat([Buffer.from([0x00, 0x20]), this.#coins.bytes(32)]);
    const witness = [noBytes, this.#coins.ecdsa(0x81), this.#coins.ecdsa(1), this.#coins.bytes(105)];
    const to = { payTo: maker, maker, buyTo: this.#coins.owner(), fee: 0 };
    return this.#twoDummies(script, () => ({ scriptSig: noBytes, witness }), to);
  }

  /** The holder's signature gives the item away, whatever the transaction pays. */
  #unboundPurchase(): MadeTransaction {
    const seller = this.#coins.owner();
    const bought = this.#twoDummies(seller, () => this.#coins.keyPath(seller, 0x82));
    return { ...bought, labels: this.#coins.unsold(bought.outputs[1]!.value <= 546 ? 'gift' : 'transfer') };
  }

  /** Two signatures spend the item. The signature of the party that is paid binds the payout. */
  #sharedSale(by: 'taproot' | 'witness-script'): MadeTransaction {
    const maker = this.#coins.owner();
    if (by === 'taproot') {
      const witness = [
        this.#coins.schnorr(0),
        this.#coins.schnorr(pairType),
        this.#coins.bytes(70),
        Buffer.concat([Uint8Array.of(0xc0), this.#coins.bytes(32)]),
      ];
      const show = (): Pick<MarketInput, 'scriptSig' | 'witness'> => ({ scriptSig: noBytes, witness });
      return this.#twoDummies(this.#coins.taproot(), show, { payTo: maker, maker });
    }
    const script = Buffer.concat([Buffer.from([0x00, 0x20]), this.#coins.bytes(32)]);
    const witness = [noBytes, this.#coins.ecdsa(pairType), this.#coins.ecdsa(1), this.#coins.bytes(105)];
    return this.#twoDummies(script, () => ({ scriptSig: noBytes, witness }), { payTo: maker, maker });
  }

  #bulk(): MadeTransaction {
    const buyer = this.#coins.owner();
    const count = 2 + this.#coins.random.below(7);
    const sellers = Array.from({ length: count }, () => ({
      script: this.#coins.owner(),
      value: this.#coins.postage(),
      price: this.#coins.price(),
    }));
    const total = sellers.reduce((sum, { price }) => sum + price, 0);
    const at = 2 * count + 1;
    return {
      inputs: [
        ...Array.from({ length: count + 1 }, () => this.#coins.coin(buyer, 600)),
        ...sellers.map(({ script, value }) =>
          this.#coins.item(script, value, this.#coins.keyPath(script, pairType)),
        ),
        this.#coins.coin(buyer, total + 200_000),
      ],
      outputs: [
        { script: buyer, value: (count + 1) * 600 },
        ...sellers.map(({ value }) => ({ script: buyer, value })),
        ...sellers.map(({ script, value, price }) => ({ script, value: price + value })),
        { script: this.#coins.owner(), value: 5_000 },
        { script: buyer, value: 50_000 },
      ],
      labels: sellers.map(({ script, value, price }) =>
        this.#coins.sold('sale', price, price + value, script, buyer, {
          feeOutput: total >= 20_000 ? at : null,
        }),
      ),
    };
  }

  /** Coins that are not dummies come before the pair. */
  #otherLayout(): MadeTransaction {
    const [seller, buyer] = [this.#coins.owner(), this.#coins.owner()];
    const price = this.#coins.price();
    return {
      inputs: [
        this.#coins.coin(buyer, 20_000),
        this.#coins.coin(buyer, 5_000),
        this.#coins.item(seller, 546, this.#coins.keyPath(seller, pairType)),
        this.#coins.coin(buyer, price + 20_000),
      ],
      outputs: [
        { script: buyer, value: 24_000 },
        { script: buyer, value: 1_546 },
        { script: seller, value: price + 546 },
        { script: buyer, value: 15_000 },
      ],
      labels: [this.#coins.sold('sale', price, price + 546, seller, buyer)],
    };
  }

  #allSigned(sighash: number, of: string): MadeTransaction {
    const [holder, buyer] = [this.#coins.owner(), this.#coins.owner()];
    const price = this.#coins.price();
    return {
      inputs: [
        this.#coins.coin(buyer, price + 10_000),
        this.#coins.item(holder, 1_000, this.#coins.keyPath(holder, sighash)),
        this.#coins.coin(buyer, 10_000),
      ],
      outputs: [
        { script: holder, value: price + 1_000 },
        { script: buyer, value: 9_000 },
        { script: buyer, value: 1_000 },
        { script: buyer, value: 9_000 },
      ],
      labels: [this.#coins.sold(of, price, price + 1_000, holder, buyer)],
    };
  }

  #ordOffer(): MadeTransaction {
    const [holder, payer] = [this.#coins.owner(), this.#coins.owner()];
    const buyer = this.#coins.random.unit() < 0.5 ? payer : this.#coins.owner();
    const price = this.#coins.price();
    const value = this.#coins.postage();
    return {
      inputs: [
        this.#coins.item(holder, value, this.#coins.keyPath(holder, this.#coins.random.below(2))),
        this.#coins.coin(payer, price + value + 20_000),
      ],
      outputs: [
        { script: buyer, value },
        { script: holder, value: price + value },
        { script: this.#coins.owner(), value: 15_000 },
      ],
      labels: [this.#coins.sold('offer', price, price + value, holder, buyer)],
    };
  }
}
