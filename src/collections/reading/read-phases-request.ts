import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import { readPhases, type SentPhase } from './read-phases.ts';

/** A request to change phases, without faults in single fields. */
export interface PhasesRequest {
  readonly kind: 'read';
  readonly id: string;
  /** Never empty. */
  readonly phases: readonly SentPhase[];
}

/** Reads a request to change the phases of a collection. Never throws: any value gives a change or its faults. */
export function* readPhasesRequest(body: unknown, network: NetworkParameters): Steps<PhasesRequest | Faulty> {
  const values = new RequestValues();
  const given = values.object(body, 'the body');
  if (given === null) return { kind: 'faulty', faults: values.faults };
  const id = values.text(given['id'], 'id');
  if (id === null) values.required(given['id'], 'id');
  const phases = yield* readPhases(values, given['phases'], network);
  if (phases.length === 0 && values.faults.length === 0)
    values.sentence(
      'phases',
      'phases is required. Send all phases that the collection has after the change.',
    );
  return id === null || values.faults.length > 0
    ? { kind: 'faulty', faults: values.faults }
    : { kind: 'read', id, phases };
}
