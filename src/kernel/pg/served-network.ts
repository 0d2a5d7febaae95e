import type pg from 'pg';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** The network that the database serves forever. `null` if it is not set yet. */
export async function servedNetwork(db: pg.Pool | pg.ClientBase): Promise<NetworkName | null> {
  const { rows } = await db.query<{ network: NetworkName }>('SELECT network FROM service.instance');
  return rows[0]?.network ?? null;
}

/** Sets the network that the database serves, if it is not set yet. Returns the served network. */
export async function claimNetwork(tx: pg.ClientBase, network: NetworkName): Promise<NetworkName | null> {
  await tx.query('INSERT INTO service.instance (network) VALUES ($1) ON CONFLICT DO NOTHING', [network]);
  return servedNetwork(tx);
}
