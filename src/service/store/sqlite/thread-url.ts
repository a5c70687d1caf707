/** The file of a thread. Run from source this file sits beside the thread's; built, both are files of `dist/`. */
export const threadUrl = (name: 'job' | 'writer'): URL => {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? `./${name}-thread.ts` : `./sqlite-${name}.js`, here);
};
