import { notOffered } from '#http/server/access/guard.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { refusingRoutes, roomRoutes } from '#http/server/routes/room-routes.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** All paths of the custodial marketplace and of the launchpad: the interface has about two dozen, and may get more. */
const custodialPaths = ['/marketplace', '/marketplace/*', '/launchpad', '/launchpad/*'];
/** Paths of the market's data, which this service has: an unknown path below them is only unknown. */
const dataPaths = ['/marketplace/data', '/marketplace/data/*'];

/**
 * Answers to clients with a key that the custodial marketplace and the launchpad are not part of this service. A client
 * of the interface learns it from any call; nothing is read or done (docs/http.md, "Not part of this service").
 */
export function custodialRoutes(app: App): void {
  roomRoutes(app, dataPaths, 'market');
  refusingRoutes(app, custodialPaths, {
    policy: { errors: 'serviceRead', guard: notOffered },
    refuse: async () => {
      throw new AppError(
        'not_offered',
        'the custodial marketplace and the launchpad are not part of this service: for data of the market use /marketplace/data (docs/marketplace-api.md)',
      );
    },
  });
}
