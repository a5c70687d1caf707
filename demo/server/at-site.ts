import type { ReleasedSource, Workspace } from '../../src/service/index.ts';

/** The same workspaces with the demo's shop as their site: on which port it runs, its file does not know. */
export const atSite = (source: ReleasedSource, site: () => string): ReleasedSource => {
  const known = new WeakMap<Workspace, Workspace>();
  const moved = (workspace: Workspace): Workspace => {
    const made = known.get(workspace) ?? {
      ...workspace,
      studio: { ...workspace.studio, sites: [site()] },
    };
    known.set(workspace, made);
    return made;
  };
  return {
    ...source,
    registry() {
      const { workspaces, holderOf } = source.registry();
      return { workspaces: workspaces.map(moved), holderOf };
    },
  };
};
