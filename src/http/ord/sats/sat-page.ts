import type { FastifyReply } from 'fastify';
import { satributeReasons } from '#http/sats/satribute-views.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { satCharms, satNotations, satStanding } from '#kernel/sats/notation.ts';
import { lastSat } from '#kernel/sats/sat.ts';
import { satPage } from '#web/pages/sat.page.ts';
import type { SatFacts } from './sat-answer.ts';

const inscriptionsShown = 100;

/** Sends the page of `/sat`. */
export function sendSatPage(
  { sat, tip, time, source, whereabouts }: SatFacts,
  deps: SiteDependencies,
  satributes: SatributeBook,
  reply: FastifyReply,
): FastifyReply {
  const { height, offset, rarity } = satStanding(sat);
  const view = {
    site: siteOf(deps, tip),
    sat,
    ...satNotations(sat),
    rarity,
    charms: charmNames(satCharms(sat)),
    ...satributeReasons(sat, satributes),
    height,
    offset,
    time,
    isExpected: source === 'expected',
    place:
      whereabouts === null
        ? null
        : {
            satpoint: whereabouts.satpoint,
            address: whereabouts.address,
            inscriptions: whereabouts.inscriptions.slice(0, inscriptionsShown),
            inscriptionCount: whereabouts.inscriptions.length,
          },
    previous: sat === 0 ? null : sat - 1,
    next: sat === lastSat ? null : sat + 1,
  };
  return sendPage(reply, satPage(view));
}
