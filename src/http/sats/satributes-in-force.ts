import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

/** The currently active definitions of satributes. */
export function satributesInForce({
  satributes,
  network,
}: Pick<AppDependencies, 'satributes' | 'network'>): SatributeBook {
  return satributes?.() ?? new SatributeBook(network.name);
}
