/** Returns the CPU time of this thread in milliseconds. Unlike elapsed time, it does not grow with the load of the machine. */
export const cpuTimeMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
