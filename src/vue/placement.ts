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

/** Vue says where an error comes from in words, or in production by the number in an address. */
const FROM_A_LISTENER = /event handler|runtime-[56]$/;

/** Behind a component of its own: one cannot capture what it throws itself. */
const Content = ({ render }: { render: () => unknown }) => render();
Content.props = ['render'];

/**
 * `<Placement placement-id="home_hero" :hook="hero" />`, or with a default slot in place of `hook`, which draws the banner
 * in Vue: `v-slot="{ banner, slot }"`. What that throws is a `failed` notice, and leaves the placement empty until there is
 * another banner. Attributes go to the element around the banner; give it the box of the banner in your styles.
 */
export const Placement = defineComponent({
  name: 'PlacardPlacement',
  props: {
    /** The placement. */
    placementId: { type: String, required: true },
    hook: Function as PropType<PlacementHook>,
    /** The element around the banner. */
    as: { type: String, default: 'div' },
  },
  slots: Object as SlotsType<{ default: { banner: Banner; slot: Slot } }>,
  setup(props, { slots }) {
    const placard = usePlacard();
    const first = bootstrapped(useBootstrap(), props.placementId);
    const drawn = shallowRef<DrawnBanner | null>(first);
    /** The last one that was there: what it throws while Vue takes it away is its failure as well. */
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
      // The client draws it anew with a slot of its own, or knows better.
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
