import { useEffect, useLayoutEffect } from 'react';

/** Before the browser paints, so that a cached banner is in the first frame; React warns of it on servers. */
export const useEffectBeforePaint = typeof document === 'undefined' ? useEffect : useLayoutEffect;
