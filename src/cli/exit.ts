import { constants } from 'node:os';

/** Error that ends a command with a specific exit code. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Failure that the command has already reported. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
}

/** Interruption of a command by a signal. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = `interrupted by ${signal}`) {
    super(message);
    this.signal = signal;
  }

  /** Exit code of a process ended by the signal, by shell convention. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

interface Interruption {
  /** Aborted by the first signal, after which no work may start. The reason is an `InterruptedError`. */
  stopSignal: AbortSignal;
  /** Aborted by the second signal, after which the command stops waiting. The reason is an `InterruptedError`. */
  abortSignal: AbortSignal;
  /** Restores the default, so that the next signal ends the process. */
  release(): void;
}

/** Listens for SIGINT and SIGTERM. A third signal ends the process. */
export const createInterruption = (onStop: () => void = () => undefined): Interruption => {
  const stop = new AbortController();
  const abort = new AbortController();
  const release = () => {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const reason = new InterruptedError(signal);
    if (stop.signal.aborted) {
      release();
      abort.abort(reason);
    } else {
      stop.abort(reason);
      onStop();
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return { stopSignal: stop.signal, abortSignal: abort.signal, release };
};
