import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { burnRoutes } from './burn.routes.ts';
import { cpfpRoutes } from './cpfp.routes.ts';
import { finalizeRoutes } from './finalize.routes.ts';
import { paymentRoutes } from './payment.routes.ts';
import { runeBurnRoutes } from './rune-burn.routes.ts';
import { submitRoutes } from './submit.routes.ts';
import { tokenPaymentRoutes } from './token-payment.routes.ts';

/** Paths that build, finalize and send transactions for wallets (docs/psbts.md). */
export function psbtRoutes(app: App, deps: AppDependencies): void {
  burnRoutes(app, deps);
  runeBurnRoutes(app, deps);
  cpfpRoutes(app, deps);
  finalizeRoutes(app, deps);
  submitRoutes(app, deps);
  paymentRoutes(app, deps);
  tokenPaymentRoutes(app, deps);
}
