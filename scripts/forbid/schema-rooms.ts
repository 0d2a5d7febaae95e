/**
 * The rooms whose SQL may name a table. This file contains only data, and check-schema-rooms.ts compares it with the
 * code. A room that needs another room's table calls a named function of the owner, and does not name the table.
 */

/** Rooms that write and read the chain. The schema `chain` belongs to them. */
export const chainRooms = ['indexer', 'search', 'src/chain'] as const;

/** Rooms of tables, sequences and called functions of the schema `service`, by name. */
export const serviceRooms: Readonly<Record<string, string>> = {
  accounts: 'src/accounts',
  key_usage: 'src/accounts',
  keys: 'src/accounts',
  keys_by_hash: 'src/accounts',
  rate_limits: 'src/accounts',
  instance: 'src/kernel',
  payment_blocks: 'src/payments',
  payment_changes: 'src/payments',
  payment_inputs: 'src/payments',
  payments_offset: 'src/payments',
  payments_seen: 'src/payments',
  watched_scripts: 'src/payments',
  inventory_outputs: 'src/inventory',
  wallet: 'src/wallet',
  wallet_branches: 'src/wallet',
  bump_parents: 'src/purse',
  bump_shares: 'src/orders',
  fund_addresses: 'src/orders',
  idempotency_keys: 'src/orders',
  assets: 'src/purse',
  ledger_entries: 'src/purse',
  payment_holds: 'src/purse',
  token_balances: 'src/purse',
  wallet_coins: 'src/purse',
  wallet_coins_fill: 'src/purse',
  wallet_spends: 'src/purse',
  wallet_transactions: 'src/purse',
  miner_packages: 'src/orders',
  etchings: 'src/orders',
  ordered_mints: 'src/orders',
  payout_shares: 'src/payouts',
  payouts: 'src/payouts',
  test_payments: 'src/test-payments',
  token_charges: 'src/tokenpay',
  token_credit_runes: 'src/tokenpay',
  token_credits: 'src/tokenpay',
  token_decisions: 'src/tokenpay',
  token_order_fees: 'src/tokenpay',
  token_orders: 'src/tokenpay',
  token_orders_offset: 'src/tokenpay',
  token_reserve_accounts: 'src/tokenpay',
  token_reserve_pages: 'src/tokenpay',
  token_reserves: 'src/tokenpay',
  token_runes: 'src/tokenpay',
  delete_withdrawal_address: 'src/tokenpay',
  list_withdrawal_address: 'src/tokenpay',
  withdrawal_addresses: 'src/tokenpay',
  withdrawals: 'src/tokenpay',
  node_policy: 'src/orders',
  order_events: 'src/orders',
  order_files: 'src/orders',
  order_leaves: 'src/orders',
  order_parents: 'src/orders',
  return_costs: 'src/orders',
  orders: 'src/orders',
  orders_audit: 'src/orders',
  orders_offset: 'src/orders',
  referrals: 'src/orders',
  uploaded_files: 'src/orders',
  reserved_outputs: 'src/orders',
  webhook_hosts: 'src/webhooks',
  webhook_keys: 'src/webhooks',
  webhook_subjects: 'src/webhooks',
  webhooks: 'src/webhooks',
  watch_findings: 'src/watches',
  watches: 'src/watches',
  watches_offset: 'src/watches',
  watches_owed: 'src/watches',
  mint_allowances: 'src/collections',
  mint_collections: 'src/collections',
  mint_files: 'src/collections',
  mint_items: 'src/collections',
  mint_orders: 'src/collections',
  mint_phases: 'src/collections',
  mint_rune_prices: 'src/collections',
  console_actions: 'src/console',
  console_sessions: 'src/console',
  market_collections: 'src/market',
  market_items: 'src/market',
  market_traits: 'src/market',
};

/** Tables of other rooms that a room may name, with the reason. An entry that no statement uses is a fault. */
export type SharedTables = {
  readonly room: string;
  readonly why: string;
} & (
  | {
      /** `schema.table` or `schema.*`. All files of the room may name it. */
      readonly names: readonly string[];
    }
  | {
      /** Tables by the path of a file in the room. A statement in any other file is a fault. */
      readonly files: Readonly<Record<string, readonly string[]>>;
    }
);

export const sharedTables: readonly SharedTables[] = [
  {
    room: 'src/kernel',
    names: ['chain.*', 'service.*'],
    why: 'migrations and the rights of the reader role are about every table',
  },
  {
    room: 'src/embedded-postgres',
    names: ['chain.*', 'service.*'],
    why: 'all tables of a data folder get their owner back',
  },
  {
    room: 'src/backups',
    names: ['service.*'],
    why: 'a backup has every table, found in the catalog, so that none is forgotten',
  },
  {
    room: 'src/market',
    files: {
      'collections/collection-standing.store.ts': ['chain.blocks', 'chain.derived_tables', 'chain.state'],
      'collections/collection.store.ts': ['chain.inscriptions'],
      'collections/market-slug.store.ts': ['chain.inscriptions'],
      'collections/sold-collection.store.ts': ['chain.inscriptions'],
      'lists/collection-items.store.ts': ['chain.inscriptions'],
      'lists/item-holders.store.ts': ['chain.locations'],
      'lists/item-orders.ts': ['chain.inscriptions', 'chain.sales'],
      'lists/shown-items.store.ts': ['chain.inscriptions'],
      'sales/collection-sales.store.ts': ['chain.blocks', 'chain.inscriptions', 'chain.sales'],
      'sales/block-sales.store.ts': ['chain.blocks', 'chain.inscriptions', 'chain.sales'],
      'sales/newest-sales.store.ts': ['chain.blocks', 'chain.inscriptions', 'chain.sales'],
      'sales/pending-sales.store.ts': [
        'chain.mempool_sales',
        'chain.mempool_transactions',
        'chain.pending_sales',
      ],
      'sales/recent-sales.ts': [
        'chain.blocks',
        'chain.derived_tables',
        'chain.inscriptions',
        'chain.sales',
        'chain.state',
      ],
      'sales/sale-context.store.ts': [
        'chain.gallery_pages',
        'chain.id_hashes',
        'chain.inscriptions',
        'chain.parents',
      ],
      'sales/sale-lists.ts': ['chain.blocks', 'chain.sales'],
    },
    why: 'joined with items of collections in one statement: a list of 100,000 items would be a parameter of 5 MB',
  },
  {
    room: 'src/market',
    files: {
      'sales/address-sales.store.ts': ['chain.blocks', 'chain.hash32', 'chain.inscriptions', 'chain.sales'],
      'sales/last-sales.store.ts': ['chain.blocks', 'chain.sales'],
    },
    why: 'joined with transactions of our orders, which are not sales, and src/chain cannot import orders',
  },
  {
    room: 'src/orders',
    files: {
      'audit/audit.queries.ts': ['service.payments_seen'],
      'watching/refund-watches.store.ts': ['service.payments_offset', 'service.payments_seen'],
    },
    why: 'whether a block has a transaction of an order is part of its statements: asked separately, the answer could be older',
  },
  {
    room: 'src/orders',
    files: {
      'audit/audit.queries.ts': ['service.wallet_spends', 'service.wallet_transactions'],
      'bumping/bump.store.ts': [
        'service.bump_parents',
        'service.wallet_spends',
        'service.wallet_transactions',
      ],
      'coins/bump-coins.queries.ts': ['service.wallet_transactions'],
      'coins/past-orders.queries.ts': ['service.wallet_transactions'],
      'files/leaves.store.ts': ['service.wallet_transactions'],
      'funds/fund-coins.queries.ts': ['service.wallet_spends', 'service.wallet_transactions'],
      'order/order-transactions.store.ts': ['service.wallet_transactions'],
      'order/order.store.ts': ['service.wallet_transactions'],
      'parents/deposits.store.ts': ['service.wallet_transactions'],
      'parents/return-costs.store.ts': ['service.wallet_transactions'],
      'watching/refund-watches.store.ts': ['service.wallet_transactions'],
    },
    why: 'kinds, files and states of orders decide which of their transactions count, in one statement; src/purse writes everything except blocks of refunds',
  },
  {
    room: 'src/orders',
    files: {
      'collections/delivered-items.queries.ts': [
        'chain.inscriptions',
        'service.mint_orders',
        'service.wallet_transactions',
      ],
    },
    why: 'items that orders delivered of a collection, in the order of the chain: 100,000 items would be a parameter of 5 MB',
  },
  {
    room: 'src/payouts',
    files: {
      'owed/partner-balances.queries.ts': [
        'service.ledger_entries',
        'service.referrals',
        'service.wallet_transactions',
      ],
    },
    why: 'earned, deep, paid and pending sats are read by one statement: with two, a payout that is mined between them would be paid again',
  },
  {
    room: 'src/payouts',
    files: {
      'payout/payout.store.ts': ['service.wallet_transactions'],
      'payout/payout-transactions.store.ts': ['service.wallet_transactions'],
      'payout/consolidations.store.ts': ['service.wallet_transactions'],
    },
    why: 'transactions of payouts, with their blocks; src/purse writes all others',
  },
  {
    room: 'src/orders',
    files: { 'ledger/owed.queries.ts': ['service.ledger_entries'] },
    why: 'orders with the largest debts, joined with their states in one statement',
  },
  {
    room: 'src/orders',
    files: { 'collections/earnings.queries.ts': ['service.ledger_entries'] },
    why: 'earnings of orders of collections, joined with these orders: 100,000 of them would be a parameter of 4 MB',
  },
  {
    room: 'src/tokenpay',
    files: {
      'audit/held-outputs.queries.ts': [
        'chain.hash64',
        'chain.outputs',
        'service.ledger_entries',
        'service.payments_seen',
      ],
      'audit/rune-parts.queries.ts': [
        'chain.hash32',
        'chain.rune_balances',
        'chain.runes',
        'service.assets',
        'service.payments_seen',
        'service.token_balances',
        'service.wallet_coins',
      ],
      'audit/token-faults.queries.ts': [
        'service.ledger_entries',
        'service.payments_seen',
        'service.token_balances',
        'service.wallet_coins',
        'service.wallet_spends',
      ],
    },
    why: 'an audit compares tables of several rooms in one statement: all credits would be a parameter of 100 MB',
  },
  {
    room: 'src/tokenpay',
    files: {
      'order/token-order.store.ts': ['service.assets'],
      'order/token-runes.store.ts': ['service.assets'],
    },
    why: 'the etching of a rune beside its name, in the one statement that reads orders; rows of assets never change',
  },
  {
    room: 'src/tokenpay',
    files: {
      'withdrawing/withdrawals.store.ts': ['service.token_balances'],
      'withdrawing/uncovered.queries.ts': ['service.token_balances'],
    },
    why: 'a withdrawal is stored, and checked again, by one statement with its reserved units: between two statements, another one could take them',
  },
  {
    room: 'src/tokenpay',
    files: {
      'withdrawing/account-coins.queries.ts': ['service.payments_seen', 'service.wallet_coins'],
      'withdrawing/owed.queries.ts': ['service.ledger_entries', 'service.token_balances'],
      'withdrawing/poor-coins.queries.ts': [
        'service.payments_seen',
        'service.token_balances',
        'service.wallet_coins',
      ],
    },
    why: 'coins with the account of their order, and the debts that they must cover: 100,000 coins would be a parameter of 5 MB',
  },
  {
    room: 'src/watches',
    files: { 'store/live-watches.store.ts': ['service.webhook_subjects'] },
    why: 'whether the URL of a watch answered 410, every five seconds: 10,000 URLs would be a parameter of 1 MB',
  },
  {
    room: 'src/purse',
    files: {
      'coins/coins.store.ts': ['service.inventory_outputs', 'service.payments_seen'],
      'coins/shown-coins.queries.ts': ['service.payments_seen'],
    },
    why: 'a coin is free if a block has it and it is not in the inventory: asked separately, the answer could be older',
  },
  {
    room: 'src/orders',
    files: { 'stock/reservations.store.ts': ['service.inventory_outputs'] },
    why: 'an output is reserved by the statement that finds it in the inventory: another process may remove it',
  },
  {
    room: 'src/inventory',
    files: { 'inventory.store.ts': ['service.reserved_outputs'] },
    why: 'whether outputs of the list are reserved; orders import the inventory, so it cannot ask them',
  },
];
