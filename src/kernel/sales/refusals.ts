/**
 * Rules that say why a move is not a sale (docs/marketplace.md, "What is not a sale"). The words are about one
 * inscription.
 */
export const refusals = {
  'not-signed': 'no signature in its input fits the script that held it',
  'outputs-not-signed': 'its input is signed with NONE, which binds no output, so no payment is owed for it',
  'no-output': 'its signature binds the output of its own index, but there is no such output (BIP 143)',
  'payout-holds-item': 'the output that its signature binds holds an inscription',
  'payout-unspendable': 'the output that its signature binds is OP_RETURN',
  'payout-empty': 'the output that its signature binds has no sats',
  'payout-to-taker': 'the output that its signature binds pays the receiver of the inscription',
  'own-sats': 'its signature binds a payout, but only coins of its holder pay for this payout',
  'into-fee': 'it goes into the fee, and all outputs are signed',
  'several-takers': 'the inscriptions of its output go to several scripts, and all outputs are signed',
  kept: 'it stays with the script that held it, and all outputs are signed',
  burned: 'it goes into an output that begins with OP_RETURN',
  'holder-not-paid':
    'all outputs are signed, and no output without inscriptions pays the script that held it',
  change:
    'all outputs are signed, and its holder gets no more sats than the holder put in, so the output is change',
  'payer-unknown':
    'all outputs are signed and its holder gains sats, but the receiver of the inscription is not among the payers, the holder did not let others add coins for a payout at its own index, and the layout is neither that of an offer nor that of a purchase',
  exchange: 'its holder gets an inscription of someone else in return',
  'paid-in-runes':
    'the payment is in runes, because there is a runestone and the output that pays holds almost no sats',
} as const;

/** The name of a rule that refuses a move. */
export type Refusal = keyof typeof refusals;
