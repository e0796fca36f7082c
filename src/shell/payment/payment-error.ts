import { paymentProblemOf } from '../../payment/errors.ts';
import { asGatewayApiError, GatewayApiError } from '../gateway-api.ts';

/** As `asGatewayApiError`. The problem of a payment takes the place of the code, because it says more. */
export function asPaymentError(error: unknown): GatewayApiError {
  const problem = paymentProblemOf(error);
  return problem ? new GatewayApiError(problem, (error as Error).message) : asGatewayApiError(error);
}
