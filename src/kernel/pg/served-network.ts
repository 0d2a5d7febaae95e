import type pg from 'pg';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** The network that the database serves for ever; null: not set yet. */
export async function servedNetwork(db: pg.Pool | pg.ClientBase): Promise<NetworkName | null> {
  const { rows } = await db.query<{ network: NetworkName }>('SELECT network FROM service.instance');
  return rows[0]?.network ?? null;
}

/** Sets the network that the database serves, unless it has one. Returns the served one. */
export async function claimNetwork(tx: pg.ClientBase, network: NetworkName): Promise<NetworkName | null> {
  await tx.query('INSERT INTO service.instance (network) VALUES ($1) ON CONFLICT DO NOTHING', [network]);
  return servedNetwork(tx);
}
