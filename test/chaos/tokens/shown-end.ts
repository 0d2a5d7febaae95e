import type { ShopOrder } from '#test/support/tokenpay/shop-world.ts';
import { type OrderEnd, receivedLine } from './order-model.ts';
import type { RunRune } from './rune-purse.ts';

/** A token order in the form of the service's response. */
export type ShownOrder = Omit<ShopOrder, 'received'> & {
  readonly received: readonly (ShopOrder['received'][number] & {
    readonly txid: string;
    readonly vout: number;
  })[];
};

/** The end of a token order, read from the service's response. Pure. */
export function shownEnd(
  { state, feeCharge, tokenCharge, received }: ShownOrder,
  runes: readonly RunRune[],
): OrderEnd {
  const etchings = new Map(runes.map(({ name, etching }) => [name, etching]));
  return {
    state,
    fee: feeCharge.state,
    token: tokenCharge.state,
    received: received
      .map(({ txid, vout, sats, charge, isAside, tokens }) => {
        const units = tokens.map(
          ({ token, amountBase }) => [etchings.get(token) ?? token, BigInt(amountBase)] as const,
        );
        const output = { outpoint: `${txid}:${vout}`, sats: BigInt(sats), runes: new Map(units), isAside };
        return receivedLine(output, charge);
      })
      .toSorted(),
  };
}
