import { constants } from 'node:os';

/** Ends a command with a specific exit code. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A failure that the command has already reported. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
}

/** The command was interrupted by a signal. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = `interrupted by ${signal}`) {
    super(message);
    this.signal = signal;
  }

  /** Exit code by shell convention for a process ended by the signal. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

interface Interruption {
  /** Aborted by the first signal: start nothing new. The reason is an `InterruptedError`, as for `abortSignal`. */
  stopSignal: AbortSignal;
  /** Aborted by the second signal: stop waiting. */
  abortSignal: AbortSignal;
  /** Restores the default: the next signal ends the process. */
  release(): void;
}

/** Listens for SIGINT and SIGTERM. A third one ends the process. */
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
