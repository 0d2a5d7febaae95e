import type { Config } from '#config/config.ts';

/** Whether a process of this role follows a node or a folder, and writes the index. */
export const indexes = (role: Config['role']): boolean => role === 'all' || role === 'indexer';

/** Whether a process of this role processes orders and sends webhooks. */
export const processesOrders = (role: Config['role']): boolean => role === 'all' || role === 'orders';
