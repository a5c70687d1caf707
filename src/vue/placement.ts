import {
  defineComponent,
  h,
  onBeforeUnmount,
  onErrorCaptured,
  onMounted,
  type PropType,
  type SlotsType,
  shallowRef,
  toRef,
} from 'vue';
import { bootstrapped, type DrawnBanner, renderedHook, watchBootstrapped } from '../bindings/index.ts';
import type { Banner, PlacementHook, Slot } from '../client/index.ts';
import { usePlacement } from './hooks.ts';
import { useBootstrap, usePlacard } from './provided.ts';

/** Matches the error source that Vue reports: text in development, a URL with a number in production. */
const FROM_A_LISTENER = /event handler|runtime-[56]$/;

/** A separate component, because a component cannot capture its own errors. */
const Content = ({ render }: { render: () => unknown }) => render();
Content.props = ['render'];

/**
 * Renders a placement: `<Placement placement-id="home_hero" :hook="hero" />`, or with a default slot instead of `hook` to render
 * the banner in Vue: `v-slot="{ banner, slot }"`. If the slot throws, the client emits a `failed` notice, and the placement stays
 * empty until the next banner. Attributes go to the element around the banner, which your styles should size.
 */
export const Placement = defineComponent({
  name: 'PlacardPlacement',
  props: {
    /** ID of the placement. */
    placementId: { type: String, required: true },
    hook: Function as PropType<PlacementHook>,
    /** Element around the banner. */
    as: { type: String, default: 'div' },
  },
  slots: Object as SlotsType<{ default: { banner: Banner; slot: Slot } }>,
  setup(props, { slots }) {
    const placard = usePlacard();
    const first = bootstrapped(useBootstrap(), props.placementId);
    const drawn = shallowRef<DrawnBanner | null>(first);
    /** Last banner, to which errors thrown while Vue unmounts it are attributed. */
    let last: DrawnBanner | null = null;
    const draw = renderedHook((next) => {
      drawn.value = next;
      last = next ?? last;
    });
    const element = usePlacement(
      () => props.placementId,
      toRef(() => props.hook ?? draw),
    );
    onMounted(() => {
      // The client renders the banner again with its own slot, or shows something else.
      if (!first || !placard) return;
      const leave = () => {
        if (drawn.value === first) drawn.value = null;
      };
      onBeforeUnmount(watchBootstrapped(placard, props.placementId, leave));
    });
    onErrorCaptured((cause, _, info) => {
      if (FROM_A_LISTENER.test(info)) return;
      last?.onError(cause);
      return false;
    });
    return () => {
      const { banner, slot } = drawn.value ?? {};
      const render = () => banner && slot && slots.default?.({ banner, slot });
      return h(props.as, { ref: element }, banner && [h(Content, { key: banner.id, render })]);
    };
  },
});
