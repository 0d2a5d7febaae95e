import { notOffered } from '#http/server/access/guard.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { refusingRoutes, roomRoutes } from '#http/server/routes/room-routes.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * All paths of the custodial marketplace and of the launchpad. The public interface has about two dozen such paths, and
 * may get more.
 */
const custodialPaths = ['/marketplace', '/marketplace/*', '/launchpad', '/launchpad/*'];
/** Paths of the market's data. They are part of this service, so a missing path below them is only an unknown path. */
const dataPaths = ['/marketplace/data', '/marketplace/data/*'];

/**
 * Routes that tell clients with a key that the custodial marketplace and the launchpad are not part of this service.
 * All requests of the public interface to these paths get this response; no data is read or changed (docs/http.md, "Not
 * part of this service").
 */
export function custodialRoutes(app: App): void {
  roomRoutes(app, dataPaths, 'market');
  refusingRoutes(app, custodialPaths, {
    policy: { errors: 'serviceRead', guard: notOffered },
    refuse: async () => {
      throw new AppError(
        'not_offered',
        'the custodial marketplace and the launchpad are not part of this service; for data of the market use /marketplace/data (docs/marketplace-api.md)',
      );
    },
  });
}
