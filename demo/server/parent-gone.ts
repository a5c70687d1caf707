const LOOK_MS = 500;

/**
 * Calls once where the process that started this one has ended. npm passes a signal on to the shell alone that it runs
 * scripts in, and that may end without passing it on: what the script started would hold its port for ever.
 */
export const whenParentIsGone = (call: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, LOOK_MS).unref();
};
