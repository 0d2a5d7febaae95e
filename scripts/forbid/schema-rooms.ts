/**
 * The rooms whose SQL may name a table. Data alone: check-schema-rooms.ts compares it to the code. A room asks the owner
 * of a table by a named function, and does not name the table itself.
 */

/** The schema `chain` belongs to what writes and reads the chain. */
export const chainRooms = ['indexer', 'search', 'src/chain'] as const;

/** Each table or sequence of the schema `service`, and its room. */
export const serviceRooms: Readonly<Record<string, string>> = {
  accounts: 'src/accounts',
  key_usage: 'src/accounts',
  keys: 'src/accounts',
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
  bump_inputs: 'src/orders',
  bump_parents: 'src/orders',
  bump_shares: 'src/orders',
  bumps: 'src/orders',
  idempotency_keys: 'src/orders',
  ledger_entries: 'src/orders',
  node_policy: 'src/orders',
  order_events: 'src/orders',
  order_files: 'src/orders',
  order_leaves: 'src/orders',
  order_parents: 'src/orders',
  order_transactions: 'src/orders',
  orders: 'src/orders',
  orders_audit: 'src/orders',
  orders_offset: 'src/orders',
  referrals: 'src/orders',
  reserved_outputs: 'src/orders',
  webhook_hosts: 'src/webhooks',
  webhook_keys: 'src/webhooks',
  webhook_subjects: 'src/webhooks',
  webhooks: 'src/webhooks',
  market_collections: 'src/market',
  market_items: 'src/market',
};

/** Tables of other rooms that a room may name, and the reason. One that no statement uses is a fault. */
export interface SharedTables {
  readonly room: string;
  /** `schema.table`, or `schema.*`. */
  readonly names: readonly string[];
  readonly why: string;
}

export const sharedTables: readonly SharedTables[] = [
  {
    room: 'src/kernel',
    names: ['chain.*', 'service.*'],
    why: 'migrations and the rights of the reader role are about every table',
  },
  {
    room: 'src/embedded-postgres',
    names: ['chain.*', 'service.*'],
    why: 'the tables of a data folder get their owner back, whichever they are',
  },
  {
    room: 'src/market',
    names: [
      'chain.blocks',
      'chain.derived_tables',
      'chain.gallery_pages',
      'chain.id_hashes',
      'chain.inscriptions',
      'chain.locations',
      'chain.mempool_sales',
      'chain.parents',
      'chain.pending_sales',
      'chain.sales',
      'chain.state',
    ],
    why: 'joined with items of collections in one statement: a list of 100,000 items would be a parameter of 5 MB',
  },
  {
    room: 'src/orders',
    names: ['service.payments_seen', 'service.payments_offset'],
    why: 'whether a block has a transaction of an order is part of its statements: asked apart, the answer could be older',
  },
  {
    room: 'src/orders',
    names: ['service.inventory_outputs'],
    why: 'an output is reserved by the statement that finds it in the inventory: another process may remove it',
  },
  {
    room: 'src/inventory',
    names: ['service.reserved_outputs'],
    why: 'which outputs of the list are reserved; orders import the inventory, so it cannot ask them',
  },
];
