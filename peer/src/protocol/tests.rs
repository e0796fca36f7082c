use super::*;

fn addresses(count: u8) -> (Vec<Address>, Vec<u8>) {
    let addresses: Vec<_> = (0..count).map(|i| Address::of(&[i])).collect();
    let bytes = addresses.iter().flat_map(|a| *a.as_bytes()).collect();
    (addresses, bytes)
}

#[test]
fn get_and_has_carry_1_to_64_addresses() {
    for count in [1, 2, 64] {
        let (addresses, bytes) = addresses(count);
        let get = [&[1, count][..], &bytes].concat();
        assert_eq!(
            decode(&get),
            Ok(Decoded::Complete(
                Request::Get(addresses.clone()),
                get.len()
            ))
        );
        let has = [&[2, count][..], &bytes].concat();
        assert_eq!(
            decode(&has),
            Ok(Decoded::Complete(Request::Has(addresses), has.len()))
        );
    }
}

#[test]
fn rejects_requests_with_0_or_65_addresses() {
    assert_eq!(decode(&[1, 0]), Err(ErrorCode::BadRequest));
    assert_eq!(decode(&[2, 65]), Err(ErrorCode::Limit));
    assert_eq!(decode(&[1, 255]), Err(ErrorCode::Limit));
}

#[test]
fn every_prefix_of_a_request_is_incomplete() {
    let (_, bytes) = addresses(3);
    let get = [&[1, 3][..], &bytes].concat();
    let put = [&[3, 0, 3][..], b"abc", &[0, 0, 1, 0]].concat();
    let open = [&[5][..], &[7; 48]].concat();
    for request in [get, put, open] {
        for end in 0..request.len() {
            assert_eq!(decode(&request[..end]), Ok(Decoded::Incomplete));
        }
        assert!(matches!(decode(&request), Ok(Decoded::Complete(_, n)) if n == request.len()));
    }
}

#[test]
fn leaves_bytes_after_a_request_to_the_caller() {
    let put = [&[3, 0, 1][..], b"t", &[0, 0, 0, 2], b"xyz"].concat();
    let request = Request::Put {
        token: b"t".to_vec(),
        length: 2,
    };
    assert_eq!(decode(&put), Ok(Decoded::Complete(request, 8)));
    assert_eq!(decode(&[4, 9]), Ok(Decoded::Complete(Request::Info, 1)));
}

#[test]
fn open_carries_an_address_and_a_range() {
    let address = Address::of(b"x");
    let from = |first, length| ByteRange::From { first, length };
    for (first, length, range) in [
        (0, 0, from(0, None)),
        (7, 0, from(7, None)),
        (7, 9, from(7, Some(9))),
        (u64::MAX, 9, ByteRange::Last(9)),
        (u64::MAX, 0, ByteRange::Last(0)),
        (u64::MAX - 1, 9, ByteRange::EndFirst(Some(9))),
        (u64::MAX - 1, 0, ByteRange::EndFirst(None)),
    ] {
        let request = [
            &[5][..],
            address.as_bytes(),
            &u64::to_be_bytes(first),
            &u64::to_be_bytes(length),
        ]
        .concat();
        let expected = Decoded::Complete(Request::Open(address, range), 49);
        assert_eq!(decode(&request), Ok(expected));
    }
}

#[test]
fn rejects_unknown_operations_and_too_long_tokens() {
    for op in [0, 6, 7, 255] {
        assert_eq!(decode(&[op]), Err(ErrorCode::BadRequest));
    }
    assert_eq!(decode(&[3, 4, 1]), Err(ErrorCode::TooLarge));
}

#[test]
fn responses_have_the_specified_layout() {
    assert_eq!(get_header(Status::Ok, 0x0040_0000), [0, 0, 0x40, 0, 0]);
    assert_eq!(get_header(Status::Busy, 0), [2, 0, 0, 0, 0]);
    assert_eq!(put_response(Status::Full, None), {
        let mut response = [0; 33];
        response[0] = 6;
        response
    });
    let address = Address::of(b"x");
    assert_eq!(
        put_response(Status::Ok, Some(address))[1..],
        address.as_bytes()[..]
    );
    assert_eq!(info_response(b"{}"), b"\0\0\0\x02{}");
}

#[test]
fn clients_that_do_not_know_denied_addresses_read_another_status() {
    assert_eq!(get_header(Status::Denied, 0), [1, 0, 0, 1, 0xc3]);
    let statuses = [Status::Ok, Status::NotFound, Status::Denied];
    assert_eq!(has_response(statuses), [0, 1, 1]);
    assert_eq!(put_response(Status::Denied, None)[0], 4);
}

#[test]
fn error_codes_are_in_the_range_that_browsers_read() {
    assert_eq!(ErrorCode::NoError.to_quic(), 0x52e4_a40f_a8db);
    assert_eq!(ErrorCode::Internal.to_quic(), 0x52e4_a40f_a8e1);
}

#[test]
fn only_busy_has_a_time_to_ask_again() {
    let header = |status, seconds| unavailable_header(status, Some(Duration::from_secs(seconds)));
    assert_eq!(header(Status::Busy, 2), [2, 0, 0, 0x07, 0xd0]);
    assert_eq!(header(Status::Busy, 3600), [2, 0, 0, 0xea, 0x60]);
    assert_eq!(unavailable_header(Status::Busy, None), [2, 0, 0, 0, 0]);
    assert_eq!(header(Status::Failed, 2), [3, 0, 0, 0, 0]);
}
