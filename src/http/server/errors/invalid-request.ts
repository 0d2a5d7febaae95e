import { AppError } from '#kernel/errors/app-error.ts';
import type { Fault } from './error-forms.ts';

/**
 * A request with invalid parameters or an invalid body. The error contains all faults of the request, for the forms
 * that list faults.
 */
export class InvalidRequest extends AppError {
  readonly faults: readonly [Fault, ...Fault[]];

  constructor(faults: readonly [Fault, ...Fault[]]) {
    super('request_invalid', faults[0].message);
    this.faults = faults;
  }
}
