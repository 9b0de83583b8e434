// API keys: what they open, their rotation, and requests that create them repeated, on one service.

import './keys/idempotency.ts';
import './keys/keys.ts';
import './keys/rotation.ts';
