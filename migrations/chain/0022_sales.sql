-- Sales of inscriptions (INDEX_SALES, docs/adr/0046-sales.md): a derived table, empty where the option is off. One row for each
-- inscription that a spend sold. Other moves have no row: chain.locations has them.
CREATE TABLE chain.sales (
  -- what the output of the pair pays, in sats; a bundle's is divided, the remainder to the first
  gross_payout bigint NOT NULL CHECK (gross_payout >= 0),
  -- inferred list price, in sats, divided alike
  price bigint NOT NULL CHECK (price >= 0),
  height integer NOT NULL,
  -- order within the block: index of the transaction, of its input, and the place among the inscriptions of the input, by key
  tx_index integer NOT NULL,
  input integer NOT NULL,
  place integer NOT NULL,
  -- of the inscription
  key integer NOT NULL,
  -- inscriptions that the payout paid for
  bundle integer NOT NULL CHECK (bundle > place),
  payout_output integer NOT NULL,
  -- taken for the fee of a platform or the royalty of a creator
  fee_output integer,
  -- version of the rules
  rules smallint NOT NULL,
  -- 1 sale, 2 accepted offer
  class smallint NOT NULL,
  -- docs/marketplace.md has the numbers
  form smallint NOT NULL,
  confidence smallint NOT NULL,
  -- sighash type of the signature that binds the payout; 0: DEFAULT
  sighash smallint NOT NULL,
  -- maker and taker are one, or pay for each other
  wash boolean NOT NULL,
  txid bytea NOT NULL CHECK (length(txid) = 32),
  -- scripts; above 128 bytes the first 97 and a sha256
  maker bytea NOT NULL,
  -- null: the inscription went into the fee
  taker bytea,
  PRIMARY KEY (height, tx_index, input, place)
);
