// Types of the responses that the order pages read (docs/orders-api.md). This file contains only types.

/** @import { TokenCharge, TokenPayCharge } from './rune-charge.js' */

/**
 * @typedef {{
 *   readonly name?: string,
 *   readonly size?: number,
 *   readonly type?: string,
 *   readonly status?: 'queued' | 'broadcast' | 'inscribed',
 *   readonly error?: string,
 *   readonly inscriptionId?: string,
 *   readonly sent?: string,
 *   readonly tx?: { readonly reveal: string, readonly burn?: string },
 * }} OrderFile
 *
 * @typedef {{
 *   readonly inscriptionId?: string,
 *   readonly returnAddress?: string,
 *   readonly value?: number | string,
 *   readonly depositAddress?: string,
 *   readonly txid?: string,
 *   readonly parentReturnTx?: string,
 * }} OrderParent
 *
 * @typedef {'waiting-payment' | 'waiting-parent' | 'waiting-confirmation' | 'prep' | 'waiting-reveal'
 *   | 'waiting-rune-balance' | 'queued'
 *   | 'completed' | 'expired' | 'cancelled' | 'waiting-refund' | 'refunded' | 'error'} OrderState
 *
 * @typedef {{
 *   readonly id: string,
 *   readonly state: OrderState,
 *   readonly orderType: 'direct' | 'bulk' | 'rune-etch' | 'rune-mint',
 *   readonly runeProperties?: { readonly rune: string | null },
 *   readonly rune?: string,
 *   readonly runeId?: string,
 *   readonly numberOfMints?: number,
 *   readonly executedMints?: number,
 *   readonly mintingTxs?: readonly string[],
 *   readonly failedMints?: readonly string[],
 *   readonly refundedMints?: number,
 *   readonly etchingTx?: { readonly commit: string, readonly reveal?: string },
 *   readonly createdAt: number,
 *   readonly expiresAt: number,
 *   readonly priceHeldUntil?: number,
 *   readonly charge: { readonly address: string, readonly amount: number },
 *   readonly tokenPayCharge?: TokenPayCharge,
 *   readonly psbt?: {
 *     readonly path: string,
 *     readonly body: {
 *       readonly chargeAmount?: number,
 *       readonly fundingAddress?: string,
 *       readonly orderId?: string,
 *       readonly feeRate: number,
 *     },
 *   },
 *   readonly files: readonly OrderFile[],
 *   readonly parents?: readonly OrderParent[],
 *   readonly refundAddress?: string,
 *   readonly receiveAddress?: string | readonly string[],
 *   readonly allowedSatributes?: readonly string[],
 *   readonly payToAnchor?: boolean,
 *   readonly fee?: number | string,
 *   readonly received?: number,
 *   readonly underpaid?: true,
 *   readonly overpaid?: true,
 *   readonly missing?: number,
 *   readonly repriced?: {
 *     readonly amount: number,
 *     readonly before: number,
 *     readonly from: number,
 *     readonly to: number,
 *     readonly fee: number,
 *     readonly until: number,
 *   },
 *   readonly inscribedCount?: number,
 *   readonly error?: string,
 *   readonly refund?: { readonly address: string, readonly amount: number, readonly txid: string },
 * }} Order
 *
 * @typedef {{ readonly code: string, readonly message: string }} Warning
 *
 * @typedef {{
 *   readonly chainFee: number,
 *   readonly baseFee: number,
 *   readonly sizeFee: number,
 *   readonly rareSatsFee: number,
 *   readonly collectionServiceFee: number,
 *   readonly price: number,
 *   readonly additionalFeeCharged: number,
 *   readonly postage: number,
 *   readonly count: number,
 *   readonly amount: number,
 *   readonly tokenPayCharge?: { readonly tokenCharge: Pick<TokenCharge, 'amount' | 'token'> },
 *   readonly transactions?: readonly { readonly kind: string, readonly vsize: number, readonly files: number }[],
 *   readonly warnings?: readonly Warning[],
 *   readonly savings?: readonly (Warning & { readonly sats: number })[],
 * }} Price
 */

export {};
